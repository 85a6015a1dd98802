"""A half bridge, averaged over its period, that charges a capacitor through a resistor."""
import math

import hiloco


class RC(hiloco.Model):
    """Capacitor behind a resistor and an averaged half bridge"""

    resistance_ohm = hiloco.Parameter(1, "Ohm", 1e-6, 1e6, "resistance between the bridge and the capacitor")
    capacitance_f = hiloco.Parameter(1e-3, "F", 1e-9, 1, "capacitance")
    duty = hiloco.Input(minimum=0, maximum=1, doc="duty cycle of the upper switch")
    input_voltage_v = hiloco.Input("V", 48, 0, 1000, "voltage of the source")
    voltage_v = hiloco.State(0, "V", -1000, 1000, "voltage of the capacitor", output=True)
    current_a = hiloco.Output("A", "current into it")

    def create(self):
        self.decay = math.exp(-self.period_s / (self.resistance_ohm * self.capacitance_f))

    def step(self):
        bridge = self.duty * self.input_voltage_v
        self.voltage_v = bridge + (self.voltage_v - bridge) * self.decay

    def output(self):
        self.current_a = (self.duty * self.input_voltage_v - self.voltage_v) / self.resistance_ohm
