//! A path along a track: waypoints beside its centre line, joined by natural cubic splines.
//!
//! ```text
//! P(θ): linear interpolation of the centre line at the length θ along it, its end segments continued
//! waypoint = P(θ) + w n,  n = (-d_y, d_x),  d = unit(P(θ + ε) - P(θ - ε)),  ε = L/5k for k nodes and closed length L
//! x(s), y(s): natural cubic splines over the chord length s of start, waypoints and the first node's centre
//! ```
//!
//! The path starts at the first point of the centre line. Samples are equally spaced in s and end a millimetre early, as
//! in the code of Jain and Morari. Cost: O(waypoints + samples).

/// How far before its end a path stops, in metres.
const END_GAP: f64 = 1e-3;

/// The centre line of a closed track.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    centre: Vec<[f64; 2]>,
    /// The length along the line at each point.
    lengths: Vec<f64>,
}

impl Track {
    /// A track of at least two points.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn new(centre: Vec<[f64; 2]>) -> Self {
        assert!(centre.len() >= 2, "a line has at least two points");
        let lengths = chord_lengths(&centre);
        Self { centre, lengths }
    }

    /// The length from the first point back to it.
    pub fn closed_length(&self) -> f64 {
        let last = self.centre.len() - 1;
        self.lengths[last] + distance(self.centre[last], self.centre[0])
    }

    /// P(θ).
    fn at(&self, length: f64) -> [f64; 2] {
        let after = self.lengths.partition_point(|&there| there <= length);
        let segment = after.clamp(1, self.centre.len() - 1) - 1;
        let (from, to) = (self.centre[segment], self.centre[segment + 1]);
        let share =
            (length - self.lengths[segment]) / (self.lengths[segment + 1] - self.lengths[segment]);
        [0, 1].map(|axis| from[axis] + share * (to[axis] - from[axis]))
    }

    /// The samples of the path with these offsets at these nodes of the centre line.
    ///
    /// # Panics
    /// If there are not as many offsets as nodes, or a node is no point of the line.
    pub fn path(&self, nodes: &[usize], offsets: &[f64], samples: usize) -> Vec<[f64; 2]> {
        assert_eq!(nodes.len(), offsets.len(), "a node has one offset");
        let step = self.closed_length() / (5 * nodes.len()) as f64;
        let mut waypoints = vec![self.centre[0]];
        for (&node, offset) in nodes.iter().zip(offsets) {
            let length = self.lengths[node];
            let (behind, ahead) = (self.at(length - step), self.at(length + step));
            let gap = distance(behind, ahead);
            let centre = self.at(length);
            let normal = [-(ahead[1] - behind[1]) / gap, (ahead[0] - behind[0]) / gap];
            waypoints.push([0, 1].map(|axis| centre[axis] + offset * normal[axis]));
        }
        waypoints.push(self.centre[nodes[0]]);

        let knots = chord_lengths(&waypoints);
        let end = knots[knots.len() - 1] - END_GAP;
        let along =
            |axis: usize| Spline::new(&knots, waypoints.iter().map(|point| point[axis]).collect());
        let (x, y) = (along(0), along(1));
        let place = |i: usize| end * i as f64 / (samples - 1) as f64;
        (0..samples).map(|i| [x.at(place(i)), y.at(place(i))]).collect()
    }
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

fn chord_lengths(points: &[[f64; 2]]) -> Vec<f64> {
    let mut lengths = vec![0.0];
    for pair in points.windows(2) {
        lengths.push(lengths[lengths.len() - 1] + distance(pair[0], pair[1]));
    }
    lengths
}

/// A natural cubic spline: two continuous derivatives, the second of which is zero at both ends.
struct Spline<'k> {
    knots: &'k [f64],
    values: Vec<f64>,
    /// Second derivatives at the knots.
    curvatures: Vec<f64>,
}

impl<'k> Spline<'k> {
    fn new(knots: &'k [f64], values: Vec<f64>) -> Self {
        let last = knots.len() - 1;
        let gap = |i: usize| knots[i + 1] - knots[i];
        let slope = |i: usize| (values[i + 1] - values[i]) / gap(i);
        let mut curvatures = vec![0.0; knots.len()];
        // Thomas's elimination of gap(i-1) c(i-1) + 2(gap(i-1) + gap(i)) c(i) + gap(i) c(i+1) = 6 change of slope.
        let mut upper = vec![0.0; knots.len()];
        for i in 1..last {
            let pivot = 2.0 * (gap(i - 1) + gap(i)) - gap(i - 1) * upper[i - 1];
            upper[i] = gap(i) / pivot;
            let change = 6.0 * (slope(i) - slope(i - 1));
            curvatures[i] = (change - gap(i - 1) * curvatures[i - 1]) / pivot;
        }
        for i in (1..last).rev() {
            curvatures[i] -= upper[i] * curvatures[i + 1];
        }
        Self { knots, values, curvatures }
    }

    fn at(&self, place: f64) -> f64 {
        let after = self.knots.partition_point(|&knot| knot <= place);
        let i = after.clamp(1, self.knots.len() - 1) - 1;
        let gap = self.knots[i + 1] - self.knots[i];
        let (right, left) = ((place - self.knots[i]) / gap, (self.knots[i + 1] - place) / gap);
        let bend = (left.powi(3) - left) * self.curvatures[i]
            + (right.powi(3) - right) * self.curvatures[i + 1];
        left * self.values[i] + right * self.values[i + 1] + bend * gap * gap / 6.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A circle of 200 points around the origin, counter-clockwise.
    fn circle(radius: f64) -> Track {
        let point = |i: i32| {
            let angle = std::f64::consts::TAU * f64::from(i) / 200.0;
            [radius * angle.cos(), radius * angle.sin()]
        };
        Track::new((0..200).map(point).collect())
    }

    #[test]
    fn a_spline_meets_its_points_is_smooth_and_straight_at_its_ends() {
        let knots = [0.0, 0.7, 1.5, 3.0, 3.2];
        let values = vec![1.0, -2.0, 0.5, 0.25, 4.0];
        let spline = Spline::new(&knots, values.clone());
        for (knot, value) in knots.iter().zip(&values) {
            assert!((spline.at(*knot) - value).abs() < 1e-12);
        }
        let h = 1e-4;
        let second = |x: f64| (spline.at(x + h) - 2.0 * spline.at(x) + spline.at(x - h)) / (h * h);
        let first = |x: f64| (spline.at(x + h) - spline.at(x - h)) / (2.0 * h);
        for knot in &knots[1..4] {
            // Second derivatives change by their slope times 4h at most.
            let change = second(knot + 2.0 * h) - second(knot - 2.0 * h);
            assert!(change.abs() < 0.5, "{change}");
            assert!((first(knot + 2.0 * h) - first(knot - 2.0 * h)).abs() < 0.1);
        }
        assert!(second(2.0 * h).abs() < 0.1 && second(3.2 - 2.0 * h).abs() < 0.5);
        // A straight line stays one.
        let line = Spline::new(&knots, knots.iter().map(|knot| 2.0 * knot - 1.0).collect());
        assert!((line.at(2.2) - 3.4).abs() < 1e-12);
    }

    #[test]
    fn offsets_move_the_path_to_the_left_by_their_size() {
        let track = circle(2.0);
        let nodes: Vec<usize> = (1..=12).map(|k| 16 * k).collect();
        let radii = |offset: f64| -> Vec<f64> {
            let path = track.path(&nodes, &[offset; 12], 100);
            // Away from the ends, which stay on the centre line.
            path[15..85].iter().map(|point| point[0].hypot(point[1])).collect()
        };
        for (offset, radius) in [(0.0, 2.0), (0.3, 1.7), (-0.2, 2.2)] {
            for there in radii(offset) {
                assert!((there - radius).abs() < 0.01, "{there} instead of {radius}");
            }
        }
        let path = track.path(&nodes, &[0.1; 12], 100);
        assert_eq!(path.len(), 100);
        assert_eq!(path[0], [2.0, 0.0]);
        assert!(distance(path[99], track.centre[16]) < 0.01);
    }

    #[test]
    fn the_line_goes_on_beyond_its_ends() {
        let track = Track::new(vec![[0.0, 0.0], [1.0, 0.0], [1.0, 2.0]]);
        assert_eq!(track.at(2.0), [1.0, 1.0]);
        assert_eq!(track.at(3.5), [1.0, 2.5]);
        assert_eq!(track.at(-0.5), [-0.5, 0.0]);
        assert!((track.closed_length() - (3.0 + 5.0_f64.sqrt())).abs() < 1e-12);
    }
}
