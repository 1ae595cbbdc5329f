-- Why: messages of one person are worked in their order, and wait until they are due. Replies go out in their order, as they were written
-- when the turn ended.

alter table inbound_messages
  add column person_key text not null default '' check (char_length(person_key) <= 300),
  add column message_id uuid,
  add column files jsonb check (jsonb_typeof(files) = 'array'),
  add column due_at timestamptz(3) not null default now();
comment on column inbound_messages.person_key is 'The first identity that the payload gives: kind:value. Messages with one key are taken one after the other';
comment on column inbound_messages.message_id is 'The message of the conversation that it became';
comment on column inbound_messages.files is 'Files that came with it, as they lie in the file store until the message is answered: [{key, mediaType, filename}]';
comment on column inbound_messages.due_at is 'When it is taken or answered at the earliest: later after a failure, and while further messages may join it';
create unique index inbound_messages_id on inbound_messages (workspace_id, id);
drop index inbound_messages_waiting;
create index inbound_messages_due on inbound_messages (due_at) where status in ('received', 'taken');
create index inbound_messages_of_person on inbound_messages (workspace_id, connection_id, person_key) where status = 'received';
create index inbound_messages_unanswered on inbound_messages (workspace_id, conversation_id) where status = 'taken';
create index inbound_messages_settled on inbound_messages (settled_at) where settled_at is not null;
create index inbound_messages_of_message on inbound_messages (workspace_id, conversation_id, message_id) where message_id is not null;

alter table deliveries
  add column content jsonb not null default '{}' check (jsonb_typeof(content) = 'object'),
  add column is_follow_up boolean not null default false,
  add column typing_ms int not null default 0 check (typing_ms >= 0);
comment on column deliveries.content is 'What is sent: {kind: text, text} or {kind: audio, key, mediaType}';
comment on column deliveries.typing_ms is 'How long the person sees that somebody writes, before it';
comment on column deliveries.due_at is 'When it is sent at the earliest. While it is being sent: when its process must be dead';
drop index deliveries_of_conversation;
create index deliveries_of_conversation on deliveries (workspace_id, conversation_id, id) where status in ('queued', 'sending');

-- A provider may say what became of a message before the statement that stores its id has committed.
create table early_receipts (
  workspace_id uuid not null,
  connection_id uuid not null,
  provider_message_id text not null check (char_length(provider_message_id) between 1 and 255),
  status text not null check (status in ('sent', 'delivered', 'read', 'failed')),
  at timestamptz(3) not null,
  error_code text,
  error_message text,
  created_at timestamptz(3) not null default now(),
  primary key (workspace_id, connection_id, provider_message_id, status),
  constraint early_receipts_connection_fkey foreign key (workspace_id, connection_id)
    references channel_connections (workspace_id, id) on delete cascade
);
comment on table early_receipts is 'What became of messages whose sending is not stored yet. Each is applied by the statement that stores it, or removed after a day';
create index early_receipts_old on early_receipts (created_at);
select protect_tenant_table('early_receipts');
