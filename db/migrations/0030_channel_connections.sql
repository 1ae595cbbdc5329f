-- Why: a switch of a connection's instance mode ends its open conversations, the sweep for silent connections looks for those that a
-- provider has not called for a day, and the metric counts those with a problem. None of them may read a whole table.

create index conversations_open_of_connection on conversations (workspace_id, connection_id)
  where connection_id is not null and not is_ended;

create index channel_connections_heard on channel_connections (coalesce(last_inbound_at, updated_at))
  where deleted_at is null and is_active and is_configured and channel_type <> 'web_chat' and problem_code is null;

create index channel_connections_problems on channel_connections (channel_type, problem_code)
  where deleted_at is null and problem_code is not null;
comment on column channel_connections.last_inbound_at is 'When the provider last called the webhook, to about a minute';

create index end_users_of_connection on end_users (workspace_id, connection_id);
create index inbound_messages_failed on inbound_messages (workspace_id, connection_id, received_at) where status = 'failed';
