#!/usr/bin/env python3
"""A half bridge, averaged over its period, that charges a capacitor through a resistor."""
import math, os, socket

hiloco = socket.socket(fileno=int(os.environ["HILOCO_FD"])).makefile("rw", newline="\n")


def say(text):
    print(text, file=hiloco, flush=True)


say("""hiloco 1
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
ready""")
for line in hiloco:
    word, *numbers = line.split()
    x = [float(number) for number in numbers]
    if word == "create":
        period, resistance, capacitance, voltage = x
        decay = math.exp(-period / (resistance * capacitance))
        say("ok")
        continue
    duty, input_voltage = x[-2:]
    if word == "step":
        final = duty * input_voltage
        voltage = final + (voltage - final) * decay
    say(f"{voltage!r} {(duty * input_voltage - voltage) / resistance!r}")
