"""How do I keep a study in a file, run the trials myself, and look at it meanwhile?"""

import sys

import wimble

storage = sys.argv[1] if len(sys.argv) > 1 else "wimble.db"
space = {"x": wimble.real(-5, 10), "y": wimble.real(0, 15)}

# Run this again, or at the same time in another terminal: it is the same study, and `wimble status demo` shows it.
study = wimble.Study("demo", space, storage=storage)
for _ in range(5):
    for trial in study.ask(4):
        try:
            study.tell(trial, (trial["x"] - 3) ** 2 + (trial["y"] - 2) ** 2)
        except ArithmeticError as error:
            study.tell(trial, wimble.FAILED(str(error)))

print(study)
print("best:", study.best)
print("a prediction:", study.predict([{"x": 3.0, "y": 2.0}]))
