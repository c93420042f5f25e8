#!/bin/sh
# Bakes a loaf for a moment: heat, minutes, steam. The last line is the result: lower is better, 0 is perfect.
sleep 0.3
awk -v heat="$1" -v minutes="$2" -v steam="$3" 'BEGIN {
    crust = (heat - 235) / 25
    crumb = (minutes * heat / 235 - 42) / 12
    dry["none"] = 0.6; dry["some"] = 0; dry["plenty"] = 0.25
    print crust * crust + crumb * crumb + dry[steam]
}'
