//! The official Rust client before the proxy, in both eras.

use crate::support::{scripted, settings};
use horngate_mcp::run;
use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _};
use std::os::unix::net::UnixStream;

const RULES: &str =
    "may_execute_tool('U:Qa', tool_echo).\nmay_execute_tool('U:Qa', tool_changes).\n";

async fn drive(lifecycle: ClientLifecycleMode) -> String {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("heard.jsonl");
    let settings = settings(RULES, scripted(&log));
    let (ours, theirs) = UnixStream::pair().unwrap();
    let output = theirs.try_clone().unwrap();
    let proxy = std::thread::spawn(move || run(settings, theirs, output));
    ours.set_nonblocking(true).unwrap();
    let stream = tokio::net::UnixStream::from_std(ours).unwrap();
    let client = ().serve_with_lifecycle(stream, lifecycle).await.unwrap();

    let tools = client.list_all_tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["echo", "changes"]);
    let arguments = serde_json::json!({"text": "é"})
        .as_object()
        .unwrap()
        .clone();
    let call = CallToolRequestParams::new("echo").with_arguments(arguments);
    let answer = client.call_tool(call).await.unwrap();
    assert_ne!(answer.is_error, Some(true));
    let text = answer.content[0].as_text().unwrap().text.clone();
    for name in ["secret", "ECHO", "nothing"] {
        let denied = client
            .call_tool(CallToolRequestParams::new(name))
            .await
            .unwrap();
        assert_eq!(denied.is_error, Some(true), "{name}");
    }
    client.cancel().await.unwrap();
    assert_eq!(proxy.join().unwrap().unwrap(), 0);
    let heard = std::fs::read_to_string(&log).unwrap();
    assert_eq!(heard.matches("\"tools/call\"").count(), 1, "{heard}");
    text
}

#[tokio::test]
async fn both_eras_give_the_same() {
    let legacy = drive(ClientLifecycleMode::Initialize).await;
    let modern = drive(ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    })
    .await;
    assert_eq!(legacy, r#"{"text":"é"}"#);
    assert_eq!(legacy, modern);
}
