-- Why: strangers use the chat page. The turn that answers a visitor may run in another process than the one that holds the browser's
-- stream, so the running turn writes its text here in pieces, and streams read from where they are. What a visitor uploads is known to be
-- the visitor's, and what one may send in a day is counted over all processes.

-- Not in the write-ahead log: after a crash of the database the turn is lost as well, and its text is in no reply.
create unlogged table live_replies (
  workspace_id uuid not null,
  conversation_id uuid not null,
  reply_id uuid not null,
  place int not null check (place >= 0),
  start_at int not null check (start_at >= 0),
  text text not null,
  written_at timestamptz(3) not null default now(),
  primary key (workspace_id, conversation_id, reply_id, place)
);
comment on table live_replies is 'The text of replies that are being written. A reply begins with an empty piece; its rows are removed when it ends';
comment on column live_replies.reply_id is 'One attempt to answer; a later one has a greater id';
comment on column live_replies.place is 'Order of the pieces; 0 is the empty one';
comment on column live_replies.start_at is 'Where the piece begins in the reply, in UTF-16 code units';
create index live_replies_old on live_replies (written_at);
select protect_tenant_table('live_replies');

create table chat_files (
  workspace_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  visitor text not null check (char_length(visitor) between 1 and 255),
  filename text not null check (char_length(filename) between 1 and 255),
  media_type text not null check (char_length(media_type) <= 255),
  size_bytes int not null check (size_bytes > 0),
  sha256 text not null check (char_length(sha256) = 64),
  is_sent boolean not null default false,
  created_at timestamptz(3) not null default now(),
  primary key (workspace_id, id),
  constraint chat_files_connection_fkey foreign key (workspace_id, connection_id)
    references channel_connections (workspace_id, id) on delete cascade
);
comment on table chat_files is 'Files that visitors of the chat page uploaded. The bytes are in the file store';
comment on column chat_files.visitor is 'The value of the identity of kind visitor';
comment on column chat_files.is_sent is 'Whether a message has it; a file without one is removed after a day';
create index chat_files_of_visitor on chat_files (workspace_id, connection_id, visitor, sha256);
create index chat_files_unsent on chat_files (created_at) where not is_sent;
select protect_tenant_table('chat_files');

create table chat_usage (
  workspace_id uuid not null,
  connection_id uuid not null,
  day date not null,
  subject bytea not null check (octet_length(subject) = 32),
  messages int not null default 0 check (messages >= 0),
  primary key (workspace_id, connection_id, day, subject),
  constraint chat_usage_connection_fkey foreign key (workspace_id, connection_id)
    references channel_connections (workspace_id, id) on delete cascade
) with (fillfactor = 70);
comment on table chat_usage is 'Messages of a day (UTC) by visitor, by address and of a whole chat page, over all processes';
comment on column chat_usage.subject is 'SHA-256 of whom is counted: no address is stored in the clear';
create index chat_usage_day on chat_usage (day);
select protect_tenant_table('chat_usage');

-- A button of the chat page is no message: what it decides is followed as an operator's decision is.
alter table approvals drop constraint approvals_decided_by_check;
alter table approvals add constraint approvals_decided_by_check check (decided_by in ('message', 'operator', 'user'));
drop index approvals_to_follow;
create index approvals_to_follow on approvals (decided_at) where status = 'approved' or decided_by in ('operator', 'user');
