"""Writes gaussian_process.json: posterior and likelihood of Gaussian processes with fixed hyper-parameters.

python gaussian_process.py > gaussian_process.json
"""

import json

import numpy as np
import sklearn
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, RationalQuadratic

rng = np.random.default_rng(7)
points = rng.uniform(size=(25, 3))
values = np.sin(5 * points[:, 0]) + points[:, 1] ** 2 - points[:, 1] * points[:, 2]
at = rng.uniform(size=(8, 3))
scales, same = [0.3, 0.7, 1.9], [0.6, 0.6, 0.6]
cases = [
    ("matern52", 1.7, scales, 1e-3, Matern(scales, nu=2.5)),
    ("matern32", 0.4, scales, 1e-2, Matern(scales, nu=1.5)),
    ("squared-exponential", 2.5, scales, 1e-2, RBF(scales)),
    # scikit-learn's rational quadratic has one length scale only.
    ({"rational-quadratic": {"alpha": 0.8}}, 1.2, same, 1e-4, RationalQuadratic(0.6, 0.8)),
]
fits = []
for profile, output_scale, length_scales, noise, kernel in cases:
    model = GaussianProcessRegressor(ConstantKernel(output_scale) * kernel, alpha=noise, optimizer=None)
    model.fit(points, values)
    mean, covariance = model.predict(at, return_cov=True)
    fits.append(
        {
            "kernel": {"profile": profile, "length_scales": length_scales, "output_scale": output_scale},
            "noise": noise,
            "log_likelihood": model.log_marginal_likelihood_value_,
            "mean": mean.tolist(),
            "covariance": covariance.tolist(),
        }
    )
print(
    json.dumps(
        {
            "tool": f"scikit-learn {sklearn.__version__}, numpy {np.__version__}",
            "points": points.tolist(),
            "values": values.tolist(),
            "at": at.tolist(),
            "fits": fits,
        },
        indent=1,
    )
)
