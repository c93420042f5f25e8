#!/bin/sh
# Bakes a loaf: heat, minutes, steam. The last line names what was measured: flaws of the loaf (0 is perfect), energy in kWh,
# and smoke, of which 1 is as much as a kitchen bears.
awk -v heat="$1" -v minutes="$2" -v steam="$3" 'BEGIN {
    crust = (heat - 235) / 25
    crumb = (minutes * heat / 235 - 42) / 12
    dry["none"] = 0.6; dry["some"] = 0; dry["plenty"] = 0.25
    boiler["none"] = 0; boiler["some"] = 0.15; boiler["plenty"] = 0.4
    flaws = crust * crust + crumb * crumb + dry[steam]
    energy = heat * minutes / 6000 + boiler[steam]
    smoke = exp((heat - 240) / 15) * minutes / 40
    printf "{\"objectives\": {\"flaws\": %.6f, \"energy\": %.6f}, \"constraints\": {\"smoke\": %.6f}}\n", flaws, energy, smoke
}'
