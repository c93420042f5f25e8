//! Objectives and constraints against values that other tools computed: `golden/tasks.json`.

use serde_json::Value;
use wimble_problems::task;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|v| v.as_f64().expect("a number")).collect()
}

#[test]
fn tasks_have_the_values_that_other_tools_give_them() {
    let golden: Value = serde_json::from_str(include_str!("golden/tasks.json")).unwrap();
    let cases = golden["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 17);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let task = task(name).unwrap();
        for (i, point) in case["points"].as_array().unwrap().iter().enumerate() {
            let measured = task.measure(&numbers(point));
            for (ours, theirs) in [
                (measured.objectives, numbers(&case["objectives"][i])),
                (measured.constraints, numbers(&case["constraints"][i])),
            ] {
                assert_eq!(ours.len(), theirs.len(), "{name}");
                for (ours, theirs) in ours.iter().zip(&theirs) {
                    // Sums of terms up to a thousand times the result, each rounded.
                    let tolerance = 1e-12 * theirs.abs().max(1.0);
                    assert!((ours - theirs).abs() <= tolerance, "{name}: {ours} {theirs}");
                }
            }
        }
    }
}
