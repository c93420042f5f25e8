#!/bin/sh
# Bakes a dough for a moment: flour, water, salt, heat, minutes. The last line is the result: lower is better.
sleep 0.1
awk -v flour="$1" -v water="$2" -v salt="$3" -v heat="$4" -v minutes="$5" 'BEGIN {
    wet = (water / flour - 0.65) / 0.1
    taste = (salt / flour - 0.02) / 0.01
    crust = (heat - 235) / 25
    crumb = (minutes * heat / 235 - 55) / 12
    print wet * wet + taste * taste / (1 + taste * taste) + crust * crust + crumb * crumb
}'
