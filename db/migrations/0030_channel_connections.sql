-- Why: a switch of a connection's instance mode ends its open conversations. Without an index that would read all of the workspace's.

create index conversations_open_of_connection on conversations (workspace_id, connection_id)
  where connection_id is not null and not is_ended;
