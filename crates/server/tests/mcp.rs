//! An agent with a real client of the protocol.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use rmcp::ServiceExt as _;
use rmcp::model::{CallToolRequestParams, CallToolResponse};
use rmcp::service::{RoleClient, RunningService};
use serde_json::{Value as Json, json};
use wimble_server::mcp::Tools;
use wimble_study::{Memory, Store, SystemClock};

type Client = RunningService<RoleClient, ()>;

async fn connect(store: &Arc<dyn Store>, write: bool) -> Client {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let tools = Tools::new(Arc::clone(store), write);
    tokio::spawn(async move {
        let served = tools.serve(ours).await.unwrap();
        served.waiting().await.unwrap();
    });
    ().serve(theirs).await.unwrap()
}

async fn call(client: &Client, tool: &'static str, arguments: Json) -> Result<Json, String> {
    let mut request = CallToolRequestParams::new(tool);
    request.arguments = arguments.as_object().cloned();
    let response = client.call_tool(request).await.map_err(|error| error.to_string())?;
    let text = serde_json::to_value(&response).unwrap();
    let CallToolResponse::Complete(result) = CallToolResponse::from(response) else {
        panic!("{text}")
    };
    if result.is_error == Some(true) {
        return Err(text["content"][0]["text"].as_str().unwrap_or_default().to_owned());
    }
    Ok(result.structured_content.unwrap())
}

#[tokio::test]
async fn an_agent_makes_a_study_works_on_it_and_reads_it() {
    let store: Arc<dyn Store> = Arc::new(Memory::new(SystemClock));
    let client = connect(&store, true).await;
    let names: Vec<String> =
        client.list_all_tools().await.unwrap().iter().map(|tool| tool.name.to_string()).collect();
    assert!(
        names.contains(&"tell".to_owned()) && names.contains(&"advice".to_owned()),
        "{names:?}"
    );
    let space = json!({ "dimensions": [{ "name": "x", "type": "real", "low": -1, "high": 1 }] });
    let made = call(
        &client,
        "create_study",
        json!({ "name": "agent", "space": space, "budget": 20, "method": "random" }),
    )
    .await;
    assert_eq!(made.unwrap()["name"], "agent");
    for i in 0..15 {
        let asked = call(
            &client,
            "ask",
            json!({ "study": "agent", "worker": "me", "key": format!("k{i}") }),
        )
        .await
        .unwrap();
        let claim = &asked["claims"][0];
        let x = claim["params"]["x"].as_f64().unwrap();
        let told = json!({ "study": "agent", "token": claim["token"], "value": x * x, "attributes": { "note": "by an agent" } });
        call(&client, "tell", told).await.unwrap();
    }
    let trial = call(
        &client,
        "enqueue",
        json!({ "study": "agent", "key": "guess", "params": { "x": 0.0 } }),
    )
    .await
    .unwrap();
    assert_eq!(trial["trial"], 15);
    let listed = call(&client, "list_studies", json!({})).await.unwrap();
    assert_eq!(listed["studies"][0]["counts"]["valued"], 15);
    let best = call(
        &client,
        "trials",
        json!({ "study": "agent", "sort": "value", "limit": 1, "filter": "state = complete" }),
    )
    .await
    .unwrap();
    let summary = call(&client, "study_summary", json!({ "study": "agent" })).await.unwrap();
    assert_eq!(best["trials"][0]["value"], summary["best"]["value"]);
    for tool in ["front", "importance", "advice"] {
        call(&client, tool, json!({ "study": "agent" })).await.unwrap();
    }
    call(&client, "trial", json!({ "study": "agent", "trial": 3 })).await.unwrap();
    call(&client, "predict", json!({ "study": "agent", "configurations": [{ "x": 0.5 }] }))
        .await
        .unwrap();
    for (tool, arguments, said) in [
        ("trial", json!({ "study": "agent", "trial": 99 }), "has no trial 99"),
        ("study_summary", json!({ "study": "none" }), "there is no study `none`"),
        ("trials", json!({ "study": "agent", "filter": "y < 1" }), "there is no column `y`"),
        (
            "tell",
            json!({ "study": "agent", "token": "0", "value": 1 }),
            "must be one that an ask gave",
        ),
        ("enqueue", json!({ "study": "agent", "key": "far", "params": { "x": 5.0 } }), "x"),
        (
            "create_study",
            json!({ "name": "c", "space": space, "command": ["sh"] }),
            "unknown field `command`",
        ),
    ] {
        let error = call(&client, tool, arguments).await.unwrap_err();
        assert!(error.contains(said), "{tool}: {error}");
    }
}

#[tokio::test]
async fn an_agent_that_may_only_read_changes_nothing() {
    let store: Arc<dyn Store> = Arc::new(Memory::new(SystemClock));
    let client = connect(&store, false).await;
    let tools = client.list_all_tools().await.unwrap();
    assert!(tools.iter().all(|tool| tool.name != "tell"
        && tool.annotations.as_ref().unwrap().read_only_hint == Some(true)));
    let refused =
        call(&client, "create_study", json!({ "name": "s", "space": {} })).await.unwrap_err();
    assert!(refused.contains("wimble mcp --write"), "{refused}");
    assert!(store.studies().unwrap().is_empty());
}
