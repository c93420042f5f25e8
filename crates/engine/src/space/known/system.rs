//! All constraints of a space together: whether a point meets them, and what they leave of a box.

use super::expression::Expression;
use super::propagation::{Activity, Parts, Scratch, Verdict};
use super::variable::{Axis, Variable};
use crate::space::configuration::Configuration;
use crate::space::encoding::Encoding;
use crate::space::layout::{Gate, Layout};

/// Passes over all constraints before a box is taken as it is.
const PASSES: usize = 8;
/// A box that keeps more than this share of its size was hardly narrowed.
const HARDLY: f64 = 0.95;

/// Constraints over the axes of a space.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct System {
    pub axes: Vec<Axis>,
    pub variables: Vec<Variable>,
    pub expressions: Vec<Expression>,
    /// The variables that some constraint mentions.
    mentioned: Vec<usize>,
    /// Whether one of them may be inactive.
    conditional: bool,
    /// The axes that a constraint depends on, also by way of what makes its variables active.
    pub relevant: Vec<usize>,
    /// The condition of each dimension, and the axis of the parent.
    gates: Vec<Option<(Gate, usize)>>,
}

/// Room to compute in, kept from one point to the next.
#[derive(Debug, Default)]
pub(super) struct Probe {
    place: Vec<f64>,
    values: Vec<f64>,
    slots: Vec<f64>,
}

impl Probe {
    /// With room for every constraint of a system.
    pub fn of(system: &System) -> Self {
        let longest = system.expressions.iter().map(|expression| expression.nodes.len()).max();
        Self {
            place: Vec::with_capacity(system.axes.len()),
            values: Vec::with_capacity(system.variables.len()),
            slots: Vec::with_capacity(longest.unwrap_or(0)),
        }
    }
}

impl System {
    pub fn new(layout: &Layout, variables: Vec<Variable>, expressions: Vec<Expression>) -> Self {
        let axes = Axis::all(layout);
        let axis_of = |dimension: usize| axes.iter().position(|axis| axis.dimension == dimension);
        let gate = |gate: &Gate| Some((gate.clone(), axis_of(gate.parent)?));
        let gates: Vec<Option<(Gate, usize)>> =
            layout.entries().iter().map(|entry| entry.gate.as_ref().and_then(gate)).collect();
        let mut mentioned: Vec<usize> =
            expressions.iter().flat_map(|expression| expression.variables.clone()).collect();
        mentioned.sort_unstable();
        mentioned.dedup();
        let conditional = mentioned.iter().any(|&variable| variables[variable].conditional);
        let mut relevant = Vec::new();
        for &variable in &mentioned {
            let Variable { axis, dimension, .. } = variables[variable];
            relevant.extend(axis..axis + variables[variable].width());
            let mut dimension = dimension;
            while let Some((gate, axis)) = &gates[dimension] {
                relevant.push(*axis);
                dimension = gate.parent;
            }
        }
        relevant.sort_unstable();
        relevant.dedup();
        Self { axes, variables, expressions, mentioned, conditional, relevant, gates }
    }

    /// The whole space.
    pub fn whole(&self) -> Parts {
        self.axes.iter().map(Axis::whole).collect()
    }

    /// The share of the space that a box has.
    pub fn share(&self, parts: &Parts) -> f64 {
        self.axes.iter().zip(parts).map(|(axis, &part)| axis.share(part)).product()
    }

    /// The place of a legal point.
    pub fn place(&self, layout: &Layout, x: &[f64]) -> Vec<f64> {
        (0..self.axes.len()).map(|axis| self.read(axis, layout, x)).collect()
    }

    fn read(&self, axis: usize, layout: &Layout, x: &[f64]) -> f64 {
        let axis = &self.axes[axis];
        match axis.is_continuous() {
            true => x[axis.coordinate],
            false => {
                let entry = &layout.entries()[axis.dimension];
                entry.encoding.level(&x[entry.range.clone()]) as f64
            }
        }
    }

    /// Writes the legal point nearest to a place.
    pub fn write(&self, layout: &Layout, place: &[f64], x: &mut [f64]) {
        for (axis, &at) in self.axes.iter().zip(place) {
            let entry = &layout.entries()[axis.dimension];
            match &entry.encoding {
                Encoding::Grid(_) | Encoding::Shares(_) => x[axis.coordinate] = at,
                encoding => encoding.write(at as u64, &mut x[entry.range.clone()]),
            }
        }
        layout.snap(x);
    }

    /// The legal point nearest to a place.
    pub fn point(&self, layout: &Layout, place: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; layout.dim()];
        self.write(layout, place, &mut x);
        x
    }

    /// The place of the legal point nearest to a place.
    pub fn snapped(&self, layout: &Layout, place: &[f64]) -> Vec<f64> {
        self.place(layout, &self.point(layout, place))
    }

    /// Whether a legal point of the dimensions meets every constraint.
    pub fn is_met(&self, layout: &Layout, x: &[f64], probe: &mut Probe) -> bool {
        let mut place = std::mem::take(&mut probe.place);
        place.resize(self.axes.len(), 0.0);
        for &axis in &self.relevant {
            place[axis] = self.read(axis, layout, x);
        }
        let met = self.is_met_at(&place, probe);
        probe.place = place;
        met
    }

    /// Whether the legal point nearest to a place meets every constraint. No point is written: a draw that is not legal costs
    /// little more than its constraints.
    pub fn is_met_at(&self, place: &[f64], probe: &mut Probe) -> bool {
        let Probe { values, slots, .. } = probe;
        values.resize(self.variables.len(), 0.0);
        for &variable in &self.mentioned {
            let found = &self.variables[variable];
            let silent = found.conditional && !self.is_active(found.dimension, place);
            values[variable] = if silent { f64::NAN } else { found.value(place) };
        }
        self.expressions.iter().all(|expression| expression.is_met(values, slots))
    }

    /// Whether a dimension is active at a place.
    fn is_active(&self, mut dimension: usize, place: &[f64]) -> bool {
        while let Some((gate, axis)) = &self.gates[dimension] {
            if gate.levels.binary_search(&(place[*axis] as u64)).is_err() {
                return false;
            }
            dimension = gate.parent;
        }
        true
    }

    /// The first constraint that a configuration breaks, by index. Parameters without a value are inactive.
    pub fn broken_by(&self, configuration: &Configuration) -> Option<usize> {
        let value = |variable: &Variable| {
            configuration.get(&variable.name).and_then(|value| variable.read(value))
        };
        let values: Vec<f64> =
            self.variables.iter().map(|variable| value(variable).unwrap_or(f64::NAN)).collect();
        let mut slots = Vec::new();
        self.expressions.iter().position(|expression| !expression.is_met(&values, &mut slots))
    }

    /// Cuts off what cannot meet all constraints.
    pub fn narrow(&self, parts: &mut Parts, scratch: &mut Scratch) -> Verdict {
        let mut size = self.share(parts);
        let mut activity = std::mem::take(&mut scratch.activity);
        let mut verdict = Verdict::Open;
        for _ in 0..PASSES {
            self.note_activity(parts, &mut activity);
            verdict = self.pass(parts, &activity, scratch);
            if verdict != Verdict::Open {
                break;
            }
            let before = std::mem::replace(&mut size, self.share(parts));
            if size > HARDLY * before {
                break;
            }
        }
        scratch.activity = activity;
        verdict
    }

    /// One pass over all constraints.
    fn pass(&self, parts: &mut Parts, activity: &[Activity], scratch: &mut Scratch) -> Verdict {
        let mut all = Verdict::Met;
        for expression in &self.expressions {
            match expression.narrow(&self.variables, activity, parts, scratch) {
                Verdict::Broken => return Verdict::Broken,
                Verdict::Met => {}
                Verdict::Open => all = Verdict::Open,
            }
        }
        all
    }

    /// Notes whether each variable is active in a box.
    fn note_activity(&self, parts: &Parts, activity: &mut Vec<Activity>) {
        activity.clear();
        if !self.conditional {
            activity.resize(self.variables.len(), Activity::Always);
            return;
        }
        let mut dimensions: Vec<Activity> = Vec::with_capacity(self.gates.len());
        for gate in &self.gates {
            let Some((gate, axis)) = gate else {
                dimensions.push(Activity::Always);
                continue;
            };
            let (low, high) = parts[*axis];
            let open = gate.levels.partition_point(|&level| (level as f64) <= high)
                - gate.levels.partition_point(|&level| (level as f64) < low);
            dimensions.push(match dimensions[gate.parent] {
                Activity::Never => Activity::Never,
                _ if open == 0 => Activity::Never,
                Activity::Always if open as f64 == high - low + 1.0 => Activity::Always,
                _ => Activity::Sometimes,
            });
        }
        activity.extend(self.variables.iter().map(|variable| dimensions[variable.dimension]));
    }
}
