//! LCBench: a network that predicts how networks train (Zimmer, Lindauer and Hutter 2021; YAHPO Gym, Pfisterer and others
//! 2022).
//!
//! Real training runs on 34 OpenML tasks, learnt by a residual network. Its forward pass, for the embedding e of a task and
//! eight hyper-parameters x:
//!
//! ```text
//! zᵢ = (g(xᵢ) - sub)/div,  g = ln(· + 1e-12) or the identity          h = A₀ [e; z] + b₀
//! three times:  u = A n(h) + b,  h ← h + A' (u₁ ⊙ relu(u₂)) + b',  u₁ and u₂ the halves of u
//! y = sigmoid(A'' relu(n(h)) + b''),  out_k = y_k mul + add, its exponential less 1e-12 where so marked
//! n(h) = (h - mean)/√(var + 1e-5) ⊙ weight + bias
//! ```
//!
//! The objective is the validation error in percent after all 52 epochs, without noise. The files are those of YAHPO Gym in
//! plain form: `manifest.json` names tensors, scales and the search space, `weights.f32.gz` has the numbers.
//!
//! Cost: half a million multiplications a value. A manifest that does not fit the weights is an error that names the tensor.

use std::collections::BTreeMap;

use serde::Deserialize;
use wimble::space::{Configuration, Dimension, SearchSpace, Value};

use super::Folder;
use super::sources::{LCBENCH_MANIFEST, LCBENCH_WEIGHTS};
use crate::error::{Error, Result};
use crate::objective::{Noise, Objective, Observation};

/// Epochs of the whole training.
pub(crate) const EPOCHS: f64 = 52.0;
/// Residual blocks.
const BLOCKS: usize = 3;

#[derive(Deserialize)]
struct Manifest {
    tensors: Vec<Place>,
    bn_eps: f64,
    log_eps: f64,
    task_index: BTreeMap<String, usize>,
    x_cont: Vec<Input>,
    outputs: Vec<Output>,
    search_space: Vec<Entry>,
}

#[derive(Deserialize)]
struct Place {
    name: String,
    shape: Vec<usize>,
    offset_floats: usize,
}

#[derive(Deserialize)]
struct Input {
    name: String,
    log: bool,
    sub: f64,
    div: f64,
}

#[derive(Deserialize)]
struct Output {
    name: String,
    mul: f64,
    add: f64,
    exp: bool,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    lower: f64,
    upper: f64,
    log: bool,
}

/// The surrogate.
pub struct Surrogate {
    manifest: Manifest,
    tensors: BTreeMap<String, Tensor>,
}

/// Numbers row by row; a vector has one column.
struct Tensor {
    rows: usize,
    columns: usize,
    values: Vec<f32>,
}

impl Tensor {
    fn row(&self, index: usize) -> &[f32] {
        &self.values[index * self.columns..(index + 1) * self.columns]
    }
}

impl Surrogate {
    /// Reads it.
    pub fn read(folder: &Folder) -> Result<Self> {
        let text = folder.read_text(&LCBENCH_MANIFEST)?;
        let manifest: Manifest = serde_json::from_str(&text)
            .map_err(|error| folder.wrong(&LCBENCH_MANIFEST, error.to_string()))?;
        let weights = folder.read(&LCBENCH_WEIGHTS)?;
        Self::new(manifest, &weights).map_err(|reason| folder.wrong(&LCBENCH_WEIGHTS, reason))
    }

    fn new(manifest: Manifest, bytes: &[u8]) -> Result<Self, String> {
        let numbers: Vec<f32> = bytes
            .chunks_exact(4)
            .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]))
            .collect();
        let mut tensors = BTreeMap::new();
        for Place { name, shape, offset_floats: offset } in &manifest.tensors {
            let (rows, columns) = match shape[..] {
                [rows] => (rows, 1),
                [rows, columns] => (rows, columns),
                _ => return Err(format!("{name} has {} dimensions", shape.len())),
            };
            let Some(values) = numbers.get(*offset..offset + rows * columns) else {
                return Err(format!("{name} ends beyond its {} numbers", numbers.len()));
            };
            tensors.insert(name.clone(), Tensor { rows, columns, values: values.to_vec() });
        }
        let surrogate = Self { manifest, tensors };
        surrogate.check()?;
        Ok(surrogate)
    }

    /// Refuses tensors that are missing or do not fit each other, so that the forward pass need not.
    fn check(&self) -> Result<(), String> {
        let shape = |name: &str| {
            let tensor = self.tensors.get(name).ok_or_else(|| format!("{name} is missing"))?;
            Ok::<_, String>((tensor.rows, tensor.columns))
        };
        let fits = |name: &str, rows: usize, columns: usize| match shape(name)? {
            there if there == (rows, columns) => Ok(()),
            (r, c) => Err(format!("{name} is {r} x {c} instead of {rows} x {columns}")),
        };
        let (tasks, embedding) = shape("embds_fct.0.weight")?;
        if self.manifest.task_index.values().any(|&index| index >= tasks) {
            return Err(format!("a task's index is beyond the {tasks} embeddings"));
        }
        let (width, _) = shape("first_layer.weight")?;
        fits("first_layer.weight", width, embedding + self.manifest.x_cont.len())?;
        fits("first_layer.bias", width, 1)?;
        let norms = (0..BLOCKS).map(|l| format!("layers.{l}.norm"));
        for norm in norms.chain(["last_normalization".to_owned()]) {
            for part in ["weight", "bias", "running_mean", "running_var"] {
                fits(&format!("{norm}.{part}"), width, 1)?;
            }
        }
        for l in 0..BLOCKS {
            let half = shape(&format!("layers.{l}.linear1.weight"))?.1;
            fits(&format!("layers.{l}.linear0.weight"), 2 * half, width)?;
            fits(&format!("layers.{l}.linear0.bias"), 2 * half, 1)?;
            fits(&format!("layers.{l}.linear1.weight"), width, half)?;
            fits(&format!("layers.{l}.linear1.bias"), width, 1)?;
        }
        fits("head.weight", self.manifest.outputs.len(), width)?;
        fits("head.bias", self.manifest.outputs.len(), 1)
    }

    /// All outputs by name for a task's index and the inputs in the manifest's order.
    fn predict(&self, task: usize, inputs: &[f64]) -> BTreeMap<&str, f64> {
        let embedding = self.tensors["embds_fct.0.weight"].row(task);
        let scaled = self.manifest.x_cont.iter().zip(inputs).map(|(input, &x)| {
            let x = if input.log { (x + self.manifest.log_eps).ln() } else { x };
            (x - input.sub) / input.div
        });
        let first: Vec<f64> = embedding.iter().copied().map(f64::from).chain(scaled).collect();
        let mut h = self.linear("first_layer", &first);
        for l in 0..BLOCKS {
            let u = self.linear(
                &format!("layers.{l}.linear0"),
                &self.normalise(&format!("layers.{l}.norm"), &h),
            );
            let (left, right) = u.split_at(u.len() / 2);
            let gated: Vec<f64> = left.iter().zip(right).map(|(a, b)| a * b.max(0.0)).collect();
            let change = self.linear(&format!("layers.{l}.linear1"), &gated);
            h.iter_mut().zip(change).for_each(|(h, change)| *h += change);
        }
        let mut last = self.normalise("last_normalization", &h);
        last.iter_mut().for_each(|h| *h = h.max(0.0));
        let logits = self.linear("head", &last);
        let outputs = self.manifest.outputs.iter().zip(logits);
        let value = |(output, logit): (&Output, f64)| {
            let y = output.mul / (1.0 + (-logit).exp()) + output.add;
            if output.exp { y.exp() - self.manifest.log_eps } else { y }
        };
        self.manifest.outputs.iter().map(|o| o.name.as_str()).zip(outputs.map(value)).collect()
    }

    fn linear(&self, name: &str, x: &[f64]) -> Vec<f64> {
        let weight = &self.tensors[&format!("{name}.weight")];
        let bias = &self.tensors[&format!("{name}.bias")].values;
        let dot = |row: &[f32]| row.iter().zip(x).map(|(&w, x)| f64::from(w) * x).sum::<f64>();
        bias.iter().enumerate().map(|(i, &b)| dot(weight.row(i)) + f64::from(b)).collect()
    }

    fn normalise(&self, name: &str, x: &[f64]) -> Vec<f64> {
        let part = |part: &str| &self.tensors[&format!("{name}.{part}")].values;
        let (weight, bias) = (part("weight"), part("bias"));
        let (mean, variance) = (part("running_mean"), part("running_var"));
        let at = |i: usize, x: f64| {
            let deviation = (f64::from(variance[i]) + self.manifest.bn_eps).sqrt();
            (x - f64::from(mean[i])) / deviation * f64::from(weight[i]) + f64::from(bias[i])
        };
        x.iter().enumerate().map(|(i, &x)| at(i, x)).collect()
    }

    /// The tuning of a network for an OpenML task as an objective; `optimum` is the least error known.
    pub fn tuning(self, task: u32, optimum: f64) -> Result<Tuning> {
        let Some(&index) = self.manifest.task_index.get(&task.to_string()) else {
            let legal: Vec<&str> = self.manifest.task_index.keys().map(String::as_str).collect();
            return Err(Error::unknown("LCBench task", &task.to_string(), &legal));
        };
        Ok(Tuning { surrogate: self, task: index, optimum })
    }
}

/// Tuning a network for a task.
pub struct Tuning {
    surrogate: Surrogate,
    task: usize,
    optimum: f64,
}

impl Tuning {
    /// The validation error in percent and the seconds of the training: two objectives.
    pub fn costs(&self, configuration: &Configuration) -> Result<[f64; 2]> {
        self.costs_after(configuration, EPOCHS)
    }

    /// The same after some of the epochs, from 1 to 52.
    pub fn costs_after(&self, configuration: &Configuration, epoch: f64) -> Result<[f64; 2]> {
        let outputs = self.outputs(configuration, epoch)?;
        Ok([100.0 - self.output("val_accuracy", &outputs)?, self.output("time", &outputs)?])
    }

    fn outputs(&self, configuration: &Configuration, epoch: f64) -> Result<BTreeMap<&str, f64>> {
        let value = |input: &Input| match configuration.get(&input.name).and_then(Value::as_real) {
            Some(value) => Ok(value),
            None if input.name == "epoch" => Ok(epoch),
            None => Err(Error::Engine(wimble::Error::MissingValue {
                dimension: input.name.clone(),
                allowed: "a number".to_owned(),
            })),
        };
        let inputs = self.surrogate.manifest.x_cont.iter().map(value);
        Ok(self.surrogate.predict(self.task, &inputs.collect::<Result<Vec<f64>>>()?))
    }

    /// One of the outputs, which must be finite.
    fn output(&self, name: &str, outputs: &BTreeMap<&str, f64>) -> Result<f64> {
        let value = outputs.get(name).copied().filter(|value| value.is_finite());
        value.ok_or(Error::Engine(wimble::Error::Diverged {
            model: "the LCBench surrogate",
            doing: "predicting the outcome of a training",
        }))
    }
}

impl Objective for Tuning {
    fn space(&self) -> Result<SearchSpace> {
        let entries = self.surrogate.manifest.search_space.iter();
        let tuned = entries.filter(|entry| entry.name != "epoch");
        let dimension = |Entry { name, kind, lower, upper, log }: &Entry| {
            let whole = (*lower as i64, *upper as i64);
            match (kind.as_str(), log) {
                ("uniform_int", true) => Dimension::log_integer(name, whole.0, whole.1),
                ("uniform_int", false) => Dimension::integer(name, whole.0, whole.1),
                (_, true) => Dimension::log_real(name, *lower, *upper),
                (_, false) => Dimension::real(name, *lower, *upper),
            }
        };
        Ok(SearchSpace::new(tuned.map(dimension))?)
    }

    fn observe(&self, configuration: &Configuration, _: Noise) -> Result<Observation> {
        let told = 100.0 - self.output("val_accuracy", &self.outputs(configuration, EPOCHS)?)?;
        let regret = (told - self.optimum).max(0.0);
        Ok(Observation { told, regret, others: vec![("best_value", told)] })
    }
}

#[cfg(test)]
mod tests {
    use wimble::seed::Seed;

    use super::super::sources::LCBENCH_VECTORS;
    use super::*;
    use crate::data::tests::real_data;

    /// One hidden unit, so that the forward pass can be written on one line.
    fn tiny() -> (Manifest, Vec<u8>) {
        let mut places = Vec::new();
        let mut numbers: Vec<f32> = Vec::new();
        let mut add = |name: &str, shape: &[usize], values: &[f32]| {
            let offset_floats = numbers.len();
            numbers.extend(values);
            places.push(Place { name: name.to_owned(), shape: shape.to_vec(), offset_floats });
        };
        add("embds_fct.0.weight", &[2, 1], &[0.0, 0.25]);
        add("first_layer.weight", &[1, 2], &[1.0, 2.0]);
        add("first_layer.bias", &[1], &[0.5]);
        for norm in ["layers.0.norm", "layers.1.norm", "layers.2.norm", "last_normalization"] {
            for (part, value) in
                [("weight", 2.0), ("bias", 0.125), ("running_mean", 0.5), ("running_var", 4.0)]
            {
                add(&format!("{norm}.{part}"), &[1], &[value]);
            }
        }
        for l in 0..BLOCKS {
            add(&format!("layers.{l}.linear0.weight"), &[2, 1], &[1.0, 3.0]);
            add(&format!("layers.{l}.linear0.bias"), &[2], &[0.0, 0.5]);
            add(&format!("layers.{l}.linear1.weight"), &[1, 1], &[0.5]);
            add(&format!("layers.{l}.linear1.bias"), &[1], &[-0.25]);
        }
        add("head.weight", &[1, 1], &[0.75]);
        add("head.bias", &[1], &[-1.0]);
        let manifest = Manifest {
            tensors: places,
            bn_eps: 1e-5,
            log_eps: 1e-12,
            task_index: BTreeMap::from([("7".to_owned(), 1)]),
            x_cont: vec![Input { name: "rate".to_owned(), log: true, sub: -2.0, div: 4.0 }],
            outputs: vec![Output {
                name: "val_accuracy".to_owned(),
                mul: 3.0,
                add: 1.0,
                exp: true,
            }],
            search_space: vec![Entry {
                name: "rate".to_owned(),
                kind: "uniform_float".to_owned(),
                lower: 0.01,
                upper: 1.0,
                log: true,
            }],
        };
        (manifest, numbers.iter().flat_map(|number| number.to_le_bytes()).collect())
    }

    #[test]
    fn the_forward_pass_is_the_formula() {
        let (manifest, bytes) = tiny();
        let tuning = Surrogate::new(manifest, &bytes).unwrap().tuning(7, 0.0).unwrap();
        let x = 0.2_f64;
        let n = |h: f64| (h - 0.5) / (4.0_f64 + 1e-5).sqrt() * 2.0 + 0.125;
        let mut h = 0.25 + 2.0 * ((x + 1e-12).ln() + 2.0) / 4.0 + 0.5;
        for _ in 0..3 {
            let u = n(h);
            h += 0.5 * (u * (3.0 * u + 0.5).max(0.0)) - 0.25;
        }
        let y = 3.0 / (1.0 + (1.0 - 0.75 * n(h).max(0.0)).exp()) + 1.0;
        let configuration = [("rate", x)].into_iter().collect();
        let seen = tuning.observe(&configuration, Noise { seed: Seed(0), number: 0 }).unwrap();
        assert!((seen.told - (100.0 - (y.exp() - 1e-12))).abs() < 1e-9, "{seen:?}");
        assert_eq!(tuning.space().unwrap().dim(), 1);
    }

    #[test]
    fn tensors_that_do_not_fit_and_unknown_tasks_are_refused() {
        let refused = |change: fn(&mut Manifest)| {
            let (mut manifest, bytes) = tiny();
            change(&mut manifest);
            Surrogate::new(manifest, &bytes).map(|_| ()).unwrap_err()
        };
        assert!(refused(|m| drop(m.tensors.pop())).contains("head.bias is missing"));
        assert!(refused(|m| m.tensors[0].offset_floats = 99).contains("beyond its"));
        assert!(
            refused(|m| m.tensors[1].shape = vec![2, 1]).contains("first_layer.weight is 2 x 1")
        );
        let (manifest, bytes) = tiny();
        let error = Surrogate::new(manifest, &bytes).unwrap().tuning(8, 0.0).map(|_| ());
        assert!(error.unwrap_err().to_string().ends_with("is called `8`. There are 7"));
    }

    #[test]
    fn the_real_surrogate_agrees_with_onnxruntime() {
        let Some(folder) = real_data() else { return };
        let surrogate = Surrogate::read(&folder).unwrap();
        let text = folder.read_text(&LCBENCH_VECTORS).unwrap();
        let mut lines = text.lines();
        let header: Vec<&str> = lines.next().unwrap().split(',').collect();
        let mut checked = 0;
        for line in lines {
            let cells: BTreeMap<&str, f64> = header
                .iter()
                .copied()
                .zip(line.split(',').map(|cell| cell.parse().unwrap()))
                .collect();
            let task = surrogate.manifest.task_index[&cells["OpenML_task_id"].to_string()];
            let inputs: Vec<f64> =
                surrogate.manifest.x_cont.iter().map(|x| cells[x.name.as_str()]).collect();
            for (name, value) in surrogate.predict(task, &inputs) {
                let expected = cells[format!("out_{name}").as_str()];
                let gap = (value - expected).abs() / expected.abs();
                assert!(gap < 1e-4, "{name}: {value} against {expected}");
                checked += 1;
            }
        }
        assert_eq!(checked, 20 * 6);
    }
}
