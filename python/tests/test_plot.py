"""Pictures: each is drawn from what is there, and says what is missing."""

import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import wimble  # noqa: E402
import wimble.plot  # noqa: E402

SPACE = {
    "rate": wimble.real(1e-4, 1.0, log=True),
    "layers": wimble.integer(1, 8),
    "kind": ["a", "b"],
    "momentum": wimble.real(0, 1, when={"kind": "b"}),
    "epochs": 3,
}


@pytest.fixture(scope="module")
def study():
    study = wimble.Study("pictures", SPACE, seed=0, method="gp-ei")

    def value(trial):
        if trial["layers"] == 8:
            return wimble.FAILED("too deep")
        return abs(trial["layers"] - 3) + (trial["rate"] - 0.01) ** 2 + trial.get("momentum", 0.5)

    return study.optimize(value, trials=40)


def test_history(study):
    ax = wimble.plot.history(study)
    trials = study.trials("complete")
    assert list(ax.lines[0].get_ydata()) == [t.value for t in trials]
    assert ax.lines[1].get_ydata()[-1] == study.best.value
    assert len(ax.lines[2].get_xdata()) == study.counts["failed"] > 0


def test_slices_of_every_kind(study):
    for name in ("rate", "layers"):
        ax = wimble.plot.slice(study, name)
        assert ax.get_xlabel() == name and len(ax.lines) == 2 and len(ax.collections) == 1
    # With `a` there is no momentum, with `b` there must be: a line through a trial with momentum has both.
    at = next(t for t in study.trials("complete") if "momentum" in t)
    ax = wimble.plot.slice(study, "kind", at=at)
    assert list(ax.containers[0].lines[0].get_xdata()) == [0, 1]
    at = next(t for t in study.trials("complete") if "momentum" not in t)
    assert list(wimble.plot.slice(study, "kind", at=at).containers[0].lines[0].get_xdata()) == [0]
    at = next(t for t in study.trials("complete") if "momentum" in t)
    assert len(wimble.plot.slice(study, "momentum", at=at).lines) == 2
    with pytest.raises(ValueError, match="'epochs' has one value"):
        wimble.plot.slice(study, "epochs")
    with pytest.raises(ValueError, match="there is no parameter 'depth'"):
        wimble.plot.slice(study, "depth")


def test_a_slice_along_steps_has_a_value_at_each():
    study = wimble.Study("steps", {"x": wimble.real(0, 0.5, step=0.1), "y": wimble.real(0, 1)}, seed=0)
    study.optimize(lambda trial: (trial["x"] - 0.3) ** 2 + trial["y"], trials=25)
    ax = wimble.plot.slice(study, "x")
    assert list(ax.lines[1].get_xdata()) == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]


def test_importance_and_parallel_coordinates(study):
    assert wimble.plot.importance(study).patches
    ax = wimble.plot.parallel(study)
    assert len(ax.lines) == study.counts["complete"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["rate", "layers", "kind", "momentum"]


def test_what_cannot_be_drawn_is_said(study):
    with pytest.raises(ValueError, match="one objective; a front needs two"):
        wimble.plot.front(study)
    with pytest.raises(ValueError, match="no trial with a value"):
        wimble.plot.history(wimble.Study("empty", SPACE))
    with pytest.raises(ValueError, match="there is no objective 'loss'"):
        wimble.plot.history(study, "loss")


def test_fronts():
    study = wimble.Study("front", {"x": wimble.real(0, 1)}, objectives=["a", "b"], method="random", seed=0)
    study.optimize(lambda t: {"a": t["x"], "b": (1 - t["x"]) ** 2}, trials=20)
    ax = wimble.plot.front(study)
    assert len(ax.lines[1].get_xdata()) == len(study.front)


def test_curves():
    study = wimble.Study("curves", {"x": wimble.real(0, 1)}, method="random", seed=0, fidelity={"epochs": (1, 9)})
    assert study.fidelity == {"epochs": (1.0, 9.0)}
    with pytest.raises(ValueError, match="no steps to draw"):
        wimble.plot.curves(study)
    whole, stopped, short, failed = study.ask(4)
    for epoch in range(1, 10):
        whole.report(epoch, 1 / epoch)
    study.tell(whole, 1 / 9)
    stopped.report(1, 3.0)
    stopped.report(2, 2.0)
    study.tell(stopped, wimble.STOPPED)
    # No steps, but a value: that is where its curve ends.
    study.tell(short, 0.5)
    study.tell(failed, wimble.FAILED("no memory"))
    ax = wimble.plot.curves(study)
    lines = [list(zip(*line.get_data())) for line in ax.lines]
    assert lines[0] == [(epoch, 1 / epoch) for epoch in range(1, 10)]
    assert lines[1:3] == [[(1, 3.0), (2, 2.0)], [(9, 0.5)]]
    # The end of what was stopped, and the best again.
    assert lines[3:] == [[(2, 2.0)], lines[0]]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["stopped", "best: trial 0"]
    with pytest.raises(ValueError, match="has no fidelity"):
        wimble.plot.curves(wimble.Study("none", {"x": wimble.real(0, 1)}))
