#!/usr/bin/env python3
"""A half bridge, averaged over its period, that charges a capacitor through a resistor."""
import math, os, socket

hiloco = socket.socket(fileno=int(os.environ["HILOCO_FD"])).makefile("rw", newline="\n")
print("""hiloco 1
name rc
doc Capacitor behind a resistor and an averaged half bridge
kind continuous
parameter resistance_ohm Ohm 1 1e-6 1e6 resistance between the bridge and the capacitor
parameter capacitance_f F 1e-3 1e-9 1 capacitance
input duty - required 0 1 duty cycle of the upper switch
input input_voltage_v V 48 0 1000 voltage of the source
output voltage_v V voltage of the capacitor
output current_a A current into it
state voltage_v V 0 -1000 1000 voltage of the capacitor
ready""", file=hiloco, flush=True)
for line in hiloco:
    word, *numbers = line.split()
    if word == "create":
        period, resistance, capacitance, voltage = map(float, numbers)
        decay = math.exp(-period / (resistance * capacitance))
        answer = "ok"
    else:  # "output", or "step" with the time
        duty, input_voltage = map(float, numbers[-2:])
        bridge = duty * input_voltage
        if word == "step":
            voltage = bridge + (voltage - bridge) * decay
        answer = f"{voltage!r} {(bridge - voltage) / resistance!r}"
    print(answer, file=hiloco, flush=True)
