"""How do I minimise a function, eight evaluations at a time?"""

import math

import wimble

space = {
    "heat": wimble.real(150, 280),
    "minutes": wimble.integer(10, 90),
    "steam": ["none", "some", "plenty"],
    "spray": wimble.real(0, 1, when={"steam": "plenty"}),  # exists only with plenty of steam
}


def bread(heat, minutes, steam, spray=0.0):
    """How far a loaf is from perfect. It gets the values by name."""
    if heat * minutes > 20_000:
        raise RuntimeError("burnt")  # this trial fails, and the search learns where loaves burn
    crust = {"none": 0.5, "some": 0.0, "plenty": 0.2}[steam]
    return math.log(heat / 235) ** 2 + (minutes / 42 - 1) ** 2 + crust + 0.1 * spray


if __name__ == "__main__":
    result = wimble.minimize(bread, space, trials=60, workers=8, seed=0, catch=RuntimeError)
    print(result.value, result.params)
    print(result.study.importance())
