//! A description of the interface in OpenAPI, made from one table, which a test holds against the router.

use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::{Map, Value as Json, json};

use super::answer;

/// An address: its method, its path, what it does, and the names of its query with their types.
pub(super) struct Operation {
    pub method: &'static str,
    pub path: &'static str,
    summary: &'static str,
    query: &'static [(&'static str, &'static str)],
    /// The fields of its body with their types; required unless they end with `?`.
    body: &'static [(&'static str, &'static str)],
}

const fn read(
    path: &'static str,
    summary: &'static str,
    query: &'static [(&'static str, &'static str)],
) -> Operation {
    Operation { method: "get", path, summary, query, body: &[] }
}

const fn change(
    path: &'static str,
    summary: &'static str,
    body: &'static [(&'static str, &'static str)],
) -> Operation {
    Operation { method: "post", path, summary, query: &[], body }
}

pub(super) const OPERATIONS: &[Operation] = &[
    read("/api/openapi.json", "This description", &[]),
    read("/api/access", "What the sender may do", &[]),
    read("/metrics", "Counters in the format of Prometheus", &[]),
    read("/api/studies", "All studies in short", &[]),
    change(
        "/api/studies",
        "Create a study without a command (token for writing)",
        &[
            ("name", "string"),
            ("space", "object"),
            ("direction?", "string"),
            ("goal?", "object"),
            ("method?", "string"),
            ("batch_size?", "integer"),
            ("seed?", "integer"),
            ("budget?", "integer"),
        ],
    ),
    read("/api/studies/{study}/summary", "A study in short, with its parameters", &[]),
    read(
        "/api/studies/{study}/history",
        "The best value so far and all values, as points or as a density grid",
        &[
            ("objective", "integer"),
            ("by", "string"),
            ("from", "number"),
            ("to", "number"),
            ("width", "integer"),
            ("height", "integer"),
            ("whole", "boolean"),
            ("log", "boolean"),
        ],
    ),
    read(
        "/api/studies/{study}/trials",
        "A page of the table of trials, filtered and sorted",
        &[
            ("filter", "string"),
            ("sort", "string"),
            ("descending", "boolean"),
            ("offset", "integer"),
            ("limit", "integer"),
        ],
    ),
    change(
        "/api/studies/{study}/trials",
        "Put a configuration into the queue (token for writing)",
        &[("key", "string"), ("params", "object")],
    ),
    read(
        "/api/studies/{study}/trials.csv",
        "The table of trials as a file",
        &[
            ("filter", "string"),
            ("sort", "string"),
            ("descending", "boolean"),
            ("columns", "string"),
        ],
    ),
    read(
        "/api/studies/{study}/changes",
        "Trials that changed after a sequence number",
        &[("since", "integer"), ("limit", "integer")],
    ),
    read(
        "/api/studies/{study}/trial/{trial}",
        "One trial, with what the model expects (unless model=false) and its neighbours",
        &[("model", "boolean")],
    ),
    read("/api/studies/{study}/front", "The trials that no other beats in every objective", &[]),
    read("/api/studies/{study}/constraints", "How many trials keep each constraint", &[]),
    read(
        "/api/studies/{study}/volume",
        "The hypervolume of the front over trials, for several objectives",
        &[],
    ),
    read(
        "/api/studies/{study}/band",
        "What the model expects of the trials that were the best so far",
        &[("by", "string"), ("from", "number"), ("to", "number"), ("width", "integer")],
    ),
    read(
        "/api/studies/{study}/curves",
        "Learning curves of running trials, the latest others and the best",
        &[],
    ),
    read(
        "/api/studies/{study}/certificate",
        "What the theorems promise, what they assume, and their numbers",
        &[],
    ),
    read(
        "/api/studies/{study}/timeline",
        "Evaluations of workers over time",
        &[("from", "number"), ("to", "number")],
    ),
    read(
        "/api/studies/{study}/parallel",
        "The best trials and some others across all parameters",
        &[],
    ),
    read("/api/studies/{study}/scatters", "Values over each parameter", &[]),
    read("/api/studies/{study}/slices", "What the model expects along each parameter", &[]),
    read("/api/studies/{study}/batch", "The trials that were proposed together last", &[]),
    read(
        "/api/studies/{study}/landscape",
        "What the model expects over two parameters",
        &[
            ("x", "string"),
            ("y", "string"),
            ("x_from", "number"),
            ("x_to", "number"),
            ("y_from", "number"),
            ("y_to", "number"),
        ],
    ),
    read("/api/studies/{study}/importance", "Which parameters matter", &[]),
    read("/api/studies/{study}/advice", "What to widen, drop or repeat, and when to stop", &[]),
    read(
        "/api/studies/{study}/events",
        "Server-sent events: the latest sequence number and counts",
        &[],
    ),
    change(
        "/api/studies/{study}/ask",
        "Give a worker trials (token for workers)",
        &[("worker", "string"), ("key", "string"), ("count?", "integer")],
    ),
    change(
        "/api/studies/{study}/tell",
        "Take a result: exactly one of value, failed, infeasible and outcome (token for workers)",
        &[
            ("token", "string"),
            ("key?", "string"),
            ("value?", "number"),
            ("failed?", "string"),
            ("infeasible?", "boolean"),
            ("outcome?", "object"),
            ("attributes?", "object"),
        ],
    ),
    change(
        "/api/studies/{study}/report",
        "Take a step of a running trial, as a value or a measurement; says whether to go on (token for workers)",
        &[
            ("token", "string"),
            ("step", "number"),
            ("value?", "number"),
            ("measurement?", "object"),
        ],
    ),
    change(
        "/api/studies/{study}/heartbeat",
        "Renew leases (token for workers)",
        &[("tokens", "array")],
    ),
    change(
        "/api/studies/{study}/release",
        "Give a trial back to the queue (token for workers)",
        &[("token", "string")],
    ),
    change(
        "/api/studies/{study}/budget",
        "Change how many trials a study may have (token for writing)",
        &[("budget", "integer")],
    ),
    change(
        "/api/studies/{study}/pause",
        "Let no worker begin a trial, or let the study go on (token for writing)",
        &[("paused", "boolean")],
    ),
    change(
        "/api/studies/{study}/note",
        "Write a note on a trial; an empty text removes it (token for writing)",
        &[("trial", "integer"), ("text", "string")],
    ),
    change(
        "/api/store",
        "A call of the store, for wimble itself (token by what the call does)",
        &[("call", "string")],
    ),
];

pub(super) async fn document(headers: HeaderMap) -> Response {
    answer::json(&headers, None, &description())
}

fn description() -> Json {
    let mut paths = Map::new();
    for operation in OPERATIONS {
        let entry = paths.entry(operation.path).or_insert_with(|| json!({}));
        entry[operation.method] = describe(operation);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "wimble",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Studies of a storage. Errors are objects with the field `error`, a sentence.",
        },
        "components": { "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } } },
        "security": [{ "token": [] }, {}],
        "paths": paths,
    })
}

fn describe(operation: &Operation) -> Json {
    let in_path =
        operation.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let mut parameters: Vec<Json> = in_path
        .map(|name| {
            let kind = if name == "trial" {
                json!({ "type": "integer", "minimum": 0 })
            } else {
                json!({ "type": "string" })
            };
            json!({ "name": name, "in": "path", "required": true, "schema": kind })
        })
        .collect();
    let required = |name: &str| operation.path.ends_with("/landscape") && matches!(name, "x" | "y");
    parameters.extend(operation.query.iter().map(|(name, kind)| {
        json!({ "name": name, "in": "query", "required": required(name), "schema": schema(kind) })
    }));
    let error = json!({
        "description": "Why not",
        "content": { "application/json": { "schema": { "type": "object", "properties": { "error": {} }, "required": ["error"] } } },
    });
    let mut responses = Map::new();
    responses.insert("200".to_owned(), json!({ "description": operation.summary }));
    for status in
        ["304", "400", "401", "403", "404", "405", "408", "409", "413", "415", "422", "429", "503"]
    {
        responses.insert(
            status.to_owned(),
            if status == "304" { json!({ "description": "Unchanged" }) } else { error.clone() },
        );
    }
    let mut described =
        json!({ "summary": operation.summary, "parameters": parameters, "responses": responses });
    if operation.method == "post" {
        let name = |field: &str| field.trim_end_matches('?').to_owned();
        let fields: Map<String, Json> =
            operation.body.iter().map(|(field, kind)| (name(field), schema(kind))).collect();
        let needed: Vec<String> = operation
            .body
            .iter()
            .filter(|(field, _)| !field.ends_with('?'))
            .map(|(field, _)| name(field))
            .collect();
        let schema = json!({ "type": "object", "properties": fields, "required": needed });
        described["requestBody"] =
            json!({ "required": true, "content": { "application/json": { "schema": schema } } });
    }
    described
}

fn schema(kind: &str) -> Json {
    match kind {
        "integer" => json!({ "type": "integer", "minimum": 0 }),
        "array" => json!({ "type": "array", "items": { "type": "string" } }),
        kind => json!({ "type": kind }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_of_the_router_is_described() {
        let routes = include_str!("routes.rs");
        let paths = routes
            .lines()
            .filter_map(|line| line.trim().strip_prefix(".route(\"")?.split_once('"'));
        for (path, rest) in
            paths.filter(|(path, _)| path.starts_with("/api") || *path == "/metrics")
        {
            for (method, word) in [("get", "get("), ("post", "post(")] {
                let there = OPERATIONS
                    .iter()
                    .any(|operation| operation.path == path && operation.method == method);
                assert_eq!(there, rest.contains(word), "{method} {path}");
            }
        }
        assert!(description()["paths"].as_object().is_some_and(|paths| paths.len() > 20));
    }
}
