//! The least time to follow a path from rest under limits of friction (Lipp and Boyd 2014).
//!
//! The path S(θ) is given at n points, θ = j/(n - 1), h = 1/(n - 1). The unknown is B = θ̇² at the points, in which the
//! acceleration of a point mass is linear, so that the problem is convex:
//!
//! ```text
//! minimise  Σ 2h/(√B_j + √B_{j+1})    over B ≥ 0, B_0 = 0, with at the middle of each segment
//! a_j = S'_j (B_{j+1} - B_j)/2h + S''_j (B_j + B_{j+1})/2,    |a_j| ≤ g,    a_j · unit(S'_j) ≤ g l_f/(l_f + l_r)
//! ```
//!
//! Friction has coefficient 1 and the mass cancels. A logarithmic barrier makes every limit smooth; each a_j involves two
//! neighbouring unknowns, so that Newton's system is tridiagonal.
//!
//! Accuracy: after the last barrier parameter μ the time is at most 4(n - 1)μ from its minimum, 4e-8 s for 100 points.
//! Cost: about a hundred steps of O(n). Fails with `Error::Diverged` on a path with points that coincide.

use crate::error::{Error, Result};

/// In m/s².
const GRAVITY: f64 = 9.81;
/// The last μ.
const LAST_BARRIER: f64 = 1e-10;
/// μ shrinks by this factor.
const SHRINKAGE: f64 = 0.1;
/// Newton steps for one μ; a few suffice.
const MOST_STEPS: usize = 60;

/// Where the mass of a car lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Car {
    /// From the centre of mass to the front axle.
    pub front: f64,
    /// From the centre of mass to the rear axle.
    pub rear: f64,
}

impl Car {
    /// The greatest forward acceleration: driven by the rear wheels, on which a part of the weight rests.
    fn thrust(self) -> f64 {
        GRAVITY * self.front / (self.front + self.rear)
    }
}

/// The least time along the points of a path, in seconds for metres.
///
/// # Panics
/// If there are fewer than seven points: the rule for S'' needs six around a segment.
pub fn minimum_time(path: &[[f64; 2]], car: Car) -> Result<f64> {
    let problem = Problem::new(path, car.thrust());
    let diverged = Error::Engine(wimble::Error::Diverged {
        model: "the lap-time solver",
        doing: "looking for a speed along the path",
    });
    let Some(mut speeds) = problem.start() else { return Err(diverged) };
    let mut barrier = 0.1;
    while barrier > LAST_BARRIER {
        barrier *= SHRINKAGE;
        problem.descend(&mut speeds, barrier);
    }
    let time = problem.time(&speeds);
    if time.is_finite() { Ok(time) } else { Err(diverged) }
}

/// A segment: its acceleration is `here` B_j + `next` B_{j+1}.
struct Segment {
    here: [f64; 2],
    next: [f64; 2],
    /// The unit tangent.
    tangent: [f64; 2],
}

impl Segment {
    fn acceleration(&self, b: f64, c: f64) -> [f64; 2] {
        [0, 1].map(|axis| self.here[axis] * b + self.next[axis] * c)
    }
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

/// The convex problem; unknowns are B_1 … B_{n-1}.
struct Problem {
    segments: Vec<Segment>,
    /// h, the step of θ from one point to the next.
    step: f64,
    thrust: f64,
}

/// Gradient and tridiagonal second derivatives.
struct Slopes {
    gradient: Vec<f64>,
    diagonal: Vec<f64>,
    /// Between each unknown and the next.
    beside: Vec<f64>,
}

impl Problem {
    fn new(path: &[[f64; 2]], thrust: f64) -> Self {
        assert!(path.len() >= 7, "a path has at least seven points");
        let last = path.len() - 2;
        let step = 1.0 / (path.len() - 1) as f64;
        let segment = |j: usize| {
            let sum = |terms: &[(f64, usize)], axis: usize| -> f64 {
                terms.iter().map(|&(factor, i)| factor * path[i][axis]).sum()
            };
            let second: &[(f64, usize)] = match j {
                0 => &[(0.5, 0), (-1.0, 1), (0.5, 2)],
                j if j == last => &[(0.5, j - 1), (-1.0, j), (0.5, j + 1)],
                j if j == 1 || j == last - 1 => {
                    &[(0.5, j - 1), (-0.5, j), (-0.5, j + 1), (0.5, j + 2)]
                }
                j => &[
                    (-5.0 / 48.0, j - 2),
                    (13.0 / 16.0, j - 1),
                    (-17.0 / 24.0, j),
                    (-17.0 / 24.0, j + 1),
                    (13.0 / 16.0, j + 2),
                    (-5.0 / 48.0, j + 3),
                ],
            };
            let first = [0, 1].map(|axis| (path[j + 1][axis] - path[j][axis]) / step);
            let second = [0, 1].map(|axis| sum(second, axis) / (step * step));
            let length = dot(first, first).sqrt();
            Segment {
                here: [0, 1].map(|axis| -first[axis] / (2.0 * step) + second[axis] / 2.0),
                next: [0, 1].map(|axis| first[axis] / (2.0 * step) + second[axis] / 2.0),
                tangent: first.map(|component| component / length),
            }
        };
        Self { segments: (0..=last).map(segment).collect(), step, thrust }
    }

    /// B at both ends of a segment.
    fn ends(speeds: &[f64], j: usize) -> (f64, f64) {
        (if j == 0 { 0.0 } else { speeds[j - 1] }, speeds[j])
    }

    fn time(&self, speeds: &[f64]) -> f64 {
        let segment = |j: usize| {
            let (b, c) = Self::ends(speeds, j);
            2.0 * self.step / (b.sqrt() + c.sqrt())
        };
        (0..self.segments.len()).map(segment).sum()
    }

    /// So slow everywhere that every limit is met with room.
    fn start(&self) -> Option<Vec<f64>> {
        let slow = |power: i32| vec![0.5_f64.powi(power); self.segments.len()];
        let roomy = |speeds: &Vec<f64>| {
            (0..self.segments.len()).all(|j| {
                let (b, c) = Self::ends(speeds, j);
                let a = self.segments[j].acceleration(b, c);
                dot(a, a) < 0.25 * GRAVITY * GRAVITY
                    && dot(a, self.segments[j].tangent) < 0.5 * self.thrust
            })
        };
        (0..60).map(slow).find(roomy)
    }

    /// Time and barrier; infinite outside the limits.
    fn value(&self, speeds: &[f64], barrier: f64) -> f64 {
        if speeds.iter().any(|&b| b <= 0.0) {
            return f64::INFINITY;
        }
        let mut logarithms: f64 = speeds.iter().map(|b| b.ln()).sum();
        for (j, segment) in self.segments.iter().enumerate() {
            let (b, c) = Self::ends(speeds, j);
            let a = segment.acceleration(b, c);
            let grip = GRAVITY * GRAVITY - dot(a, a);
            let thrust = self.thrust - dot(a, segment.tangent);
            if grip <= 0.0 || thrust <= 0.0 {
                return f64::INFINITY;
            }
            logarithms += grip.ln() + thrust.ln();
        }
        self.time(speeds) - barrier * logarithms
    }

    fn slopes(&self, speeds: &[f64], barrier: f64) -> Slopes {
        let count = speeds.len();
        let mut slopes = Slopes {
            gradient: vec![0.0; count],
            diagonal: vec![0.0; count],
            beside: vec![0.0; count - 1],
        };
        for (i, &b) in speeds.iter().enumerate() {
            slopes.gradient[i] -= barrier / b;
            slopes.diagonal[i] += barrier / (b * b);
        }
        for (j, segment) in self.segments.iter().enumerate() {
            let (b, c) = Self::ends(speeds, j);
            let a = segment.acceleration(b, c);
            let grip = GRAVITY * GRAVITY - dot(a, a);
            let thrust = self.thrust - dot(a, segment.tangent);
            // Derivatives of -ln grip and -ln thrust in B_j and B_{j+1}.
            let turn = [dot(a, segment.here), dot(a, segment.next)].map(|d| 2.0 * d / grip);
            let push = [dot(segment.tangent, segment.here), dot(segment.tangent, segment.next)]
                .map(|d| d / thrust);
            let second = |p: usize, q: usize| {
                let (u, v) = (
                    if p == 0 { segment.here } else { segment.next },
                    if q == 0 { segment.here } else { segment.next },
                );
                barrier * (2.0 * dot(u, v) / grip + turn[p] * turn[q] + push[p] * push[q])
            };
            // Derivatives of 2h/(√b + √c).
            let (h, root_b, root_c) = (self.step, b.sqrt(), c.sqrt());
            let s = root_b + root_c;
            let first = |root: f64| -h / (s * s * root);
            let own = |root: f64| h * (1.0 / (s * root * root) + 0.5 / root.powi(3)) / (s * s);
            slopes.gradient[j] += first(root_c) + barrier * (turn[1] + push[1]);
            slopes.diagonal[j] += own(root_c) + second(1, 1);
            if j > 0 {
                slopes.gradient[j - 1] += first(root_b) + barrier * (turn[0] + push[0]);
                slopes.diagonal[j - 1] += own(root_b) + second(0, 0);
                slopes.beside[j - 1] += h / (s.powi(3) * root_b * root_c) + second(0, 1);
            }
        }
        slopes
    }

    /// Newton's method with halved steps until the decrement says that the barrier's centre is near.
    fn descend(&self, speeds: &mut Vec<f64>, barrier: f64) {
        let mut value = self.value(speeds, barrier);
        for _ in 0..MOST_STEPS {
            let slopes = self.slopes(speeds, barrier);
            let direction = slopes.newton();
            let decrement: f64 =
                -direction.iter().zip(&slopes.gradient).map(|(d, g)| d * g).sum::<f64>();
            // Of the barrier's own scale, on which its centre is one unit wide.
            if decrement.is_nan() || decrement <= 1e-6 * barrier {
                return;
            }
            let mut length = 1.0;
            let moved = loop {
                let moved: Vec<f64> =
                    speeds.iter().zip(&direction).map(|(b, d)| b + length * d).collect();
                let there = self.value(&moved, barrier);
                if there <= value - 0.25 * length * decrement {
                    value = there;
                    break Some(moved);
                }
                length *= 0.5;
                if length < 1e-12 {
                    break None;
                }
            };
            // Rounding leaves nothing to gain.
            let Some(moved) = moved else { return };
            *speeds = moved;
        }
    }
}

impl Slopes {
    /// -H⁻¹ gradient by elimination; H is positive definite, as the problem is convex.
    fn newton(&self) -> Vec<f64> {
        let count = self.gradient.len();
        let (mut upper, mut solution) = (vec![0.0; count], vec![0.0; count]);
        for i in 0..count {
            let (before, above) = if i == 0 { (0.0, 0.0) } else { (solution[i - 1], upper[i - 1]) };
            let beside = if i == 0 { 0.0 } else { self.beside[i - 1] };
            let pivot = self.diagonal[i] - beside * above;
            upper[i] = self.beside.get(i).map_or(0.0, |next| next / pivot);
            solution[i] = (-self.gradient[i] - beside * before) / pivot;
        }
        for i in (0..count.saturating_sub(1)).rev() {
            solution[i] -= upper[i] * solution[i + 1];
        }
        solution
    }
}

#[cfg(test)]
mod tests {
    use wimble::internals::uniform;
    use wimble::seed::{Rng, Seed};

    use super::*;

    const CAR: Car = Car { front: 0.15875, rear: 0.17145 };

    fn wavy(rng: &mut Rng, points: usize) -> Vec<[f64; 2]> {
        let (bend, phase) = (0.5 + uniform(rng), 6.0 * uniform(rng));
        let point = |i: usize| {
            let s = i as f64 / (points - 1) as f64;
            [10.0 * s, bend * (9.0 * s + phase).sin()]
        };
        (0..points).map(point).collect()
    }

    /// B_j = 2hjc/L on a line of length L at the greatest thrust c: the sum is √(2L/c) for any number of points.
    #[test]
    fn a_straight_line_takes_the_time_of_constant_thrust() {
        for (length, points) in [(1.0_f64, 20), (19.0, 100), (300.0, 57)] {
            let direction = [0.6, -0.8];
            let path: Vec<[f64; 2]> = (0..points)
                .map(|i| direction.map(|d| d * length * f64::from(i) / f64::from(points - 1)))
                .collect();
            let expected = (2.0 * length / CAR.thrust()).sqrt();
            let time = minimum_time(&path, CAR).unwrap();
            assert!((time / expected - 1.0).abs() < 1e-6, "{time} instead of {expected}");
        }
    }

    /// On a circle v' = min(thrust, √(g² - (v²/R)²)): integrated by small steps of time.
    #[test]
    fn a_circle_takes_the_time_of_the_equation_of_motion() {
        let (radius, turns, points) = (1.5, 1.8, 1200);
        let angle = |i: usize| std::f64::consts::TAU * turns * i as f64 / (points - 1) as f64;
        let path: Vec<[f64; 2]> =
            (0..points).map(|i| [radius * angle(i).cos(), radius * angle(i).sin()]).collect();
        let length = std::f64::consts::TAU * turns * radius;
        let (mut speed, mut place, mut time, step) = (0.0_f64, 0.0, 0.0, 1e-5);
        while place < length {
            let sideways = speed * speed / radius;
            let forward = (GRAVITY * GRAVITY - sideways * sideways).max(0.0).sqrt();
            speed += step * forward.min(CAR.thrust());
            place += step * speed;
            time += step;
        }
        let found = minimum_time(&path, CAR).unwrap();
        assert!((found / time - 1.0).abs() < 2e-3, "{found} instead of {time}");
    }

    #[test]
    fn first_and_second_derivatives_are_those_of_differences() {
        let mut rng = Seed(1).stream("paths", 0);
        let problem = Problem::new(&wavy(&mut rng, 30), CAR.thrust());
        let mut speeds = problem.start().unwrap();
        problem.descend(&mut speeds, 1e-2);
        let slopes = problem.slopes(&speeds, 1e-2);
        for i in [0, 1, 7, 27, 28] {
            let step = 1e-5 * speeds[i];
            let moved = |by: f64| {
                let mut speeds = speeds.clone();
                speeds[i] += by;
                speeds
            };
            let (above, below) = (moved(step), moved(-step));
            let first = (problem.value(&above, 1e-2) - problem.value(&below, 1e-2)) / (2.0 * step);
            let scale = slopes.diagonal[i] * speeds[i];
            assert!((first - slopes.gradient[i]).abs() < 1e-5 * scale, "{i}: {first}");
            let (above, below) = (problem.slopes(&above, 1e-2), problem.slopes(&below, 1e-2));
            let second = |k: usize| (above.gradient[k] - below.gradient[k]) / (2.0 * step);
            assert!((second(i) / slopes.diagonal[i] - 1.0).abs() < 1e-5);
            if i + 1 < speeds.len() {
                let gap = (second(i + 1) - slopes.beside[i]).abs();
                assert!(gap < 1e-5 * slopes.diagonal[i], "{i}: {gap}");
            }
        }
    }

    #[test]
    fn no_feasible_change_of_the_answer_is_faster() {
        let mut rng = Seed(2).stream("paths", 0);
        for _ in 0..5 {
            let path = wavy(&mut rng, 60);
            let problem = Problem::new(&path, CAR.thrust());
            let mut speeds = problem.start().unwrap();
            for power in 2..=10 {
                problem.descend(&mut speeds, 10.0_f64.powi(-power));
            }
            let best = problem.time(&speeds);
            assert!((minimum_time(&path, CAR).unwrap() - best).abs() < 1e-7);
            // Limits bind almost everywhere, so that changes must lead inwards: towards points within the limits.
            let mut inside = problem.start().unwrap();
            problem.descend(&mut inside, 1e-3);
            let mut feasible = 0;
            for _ in 0..2000 {
                let share = 10.0_f64.powf(-6.0 * uniform(&mut rng));
                let moved: Vec<f64> = speeds
                    .iter()
                    .zip(&inside)
                    .map(|(b, c)| {
                        let noise = 1.0 + 1e-3 * (2.0 * uniform(&mut rng) - 1.0);
                        (1.0 - share) * b + share * c * noise
                    })
                    .collect();
                if problem.value(&moved, 0.0).is_finite() {
                    feasible += 1;
                    assert!(problem.time(&moved) > best - 1e-7);
                }
            }
            assert!(feasible > 200, "{feasible}");
        }
    }

    #[test]
    fn time_is_the_same_for_turned_paths_and_grows_with_the_root_of_their_size() {
        let mut rng = Seed(3).stream("paths", 0);
        for _ in 0..5 {
            let path = wavy(&mut rng, 80);
            let time = minimum_time(&path, CAR).unwrap();
            let (sin, cos) = (6.0 * uniform(&mut rng)).sin_cos();
            let turned: Vec<[f64; 2]> =
                path.iter().map(|[x, y]| [cos * x - sin * y, sin * x + cos * y]).collect();
            assert!((minimum_time(&turned, CAR).unwrap() - time).abs() < 1e-6);
            let larger: Vec<[f64; 2]> = path.iter().map(|p| p.map(|x| 4.0 * x)).collect();
            assert!((minimum_time(&larger, CAR).unwrap() - 2.0 * time).abs() < 1e-5);
        }
        let still = vec![[1.0, 1.0]; 20];
        assert!(minimum_time(&still, CAR).unwrap_err().to_string().contains("lap-time solver"));
    }
}
