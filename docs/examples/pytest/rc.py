"""A plant in Python."""
import math

import hiloco


class RC(hiloco.Model):
    """Capacitor behind a resistor"""

    resistance_ohm = hiloco.Parameter(1, "Ohm", 1e-6, 1e6)
    capacitance_f = hiloco.Parameter(1e-3, "F", 1e-9, 1)
    input_v = hiloco.Input("V")
    voltage_v = hiloco.State(0, "V", output=True, doc="of the capacitor")

    def create(self):
        self.decay = math.exp(-self.period_s / (self.resistance_ohm * self.capacitance_f))

    def step(self):
        self.voltage_v = self.input_v + (self.voltage_v - self.input_v) * self.decay
