//! A plain connection to a server, past the store: of somebody else who is at work there.

use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls};

/// To a schema of a database.
pub fn connect(address: &str, schema: &str) -> (Runtime, Client) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let client = runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(address, NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute(&format!("SET search_path = {schema}")).await.unwrap();
        client
    });
    (runtime, client)
}
