-- Why: the turn that answers a visitor of the chat page may run in another process than the one that holds the browser's stream. The
-- running turn writes its text here in pieces, and streams read from where they are.

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
