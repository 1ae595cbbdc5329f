-- Why: an invitation, a link to sign in and a receipt go out by mail. A mail is stored with what it tells of, and sent from there, once.

create table mails (
  workspace_id uuid not null,
  id uuid not null,
  key text not null check (char_length(key) between 1 and 300),
  kind text not null check (kind in ('invitation', 'sign_in', 'invoice_request')),
  recipient text not null check (char_length(recipient) between 3 and 320),
  recipient_name text,
  content bytea,
  status text not null default 'queued' check (status in ('queued', 'sending', 'sent', 'failed')),
  attempts int not null default 0 check (attempts >= 0),
  is_unconfirmed boolean not null default false,
  due_at timestamptz(3) not null default now(),
  error_message text,
  created_at timestamptz(3) not null default now(),
  settled_at timestamptz(3),
  primary key (workspace_id, id)
) with (fillfactor = 70);
comment on column mails.key is 'What it tells of: the same is never sent twice';
comment on column mails.content is 'Sealed JSON object of its data, since links are secrets; null once it was sent. A mail that failed keeps it, so that an operator can have it sent again';
comment on column mails.is_unconfirmed is 'Whether an attempt ended without an answer: the recipient may have it already';
create unique index mails_key on mails (workspace_id, key);
create index mails_due on mails (due_at) where status in ('queued', 'sending');
create index mails_list on mails (workspace_id, created_at desc, id desc);
create index mails_settled on mails (settled_at) where settled_at is not null;
select protect_tenant_table('mails');
