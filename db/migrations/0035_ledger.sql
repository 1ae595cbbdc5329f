-- Why: credits are money. Every change is an entry that is never changed, each lot says what is left of it, and what a running turn will
-- need is reserved before the model is asked.

create table credit_accounts (
  workspace_id uuid not null,
  client_id uuid not null,
  included bigint not null default 0,
  extra bigint not null default 0,
  reserved bigint not null default 0 check (reserved >= 0),
  is_unlimited boolean not null default false,
  may_use_extra boolean not null default false,
  used_this_period bigint not null default 0,
  usage_period int not null default 0,
  primary key (workspace_id, client_id),
  constraint credit_accounts_client_fkey foreign key (workspace_id, client_id) references clients (workspace_id, id)
) with (fillfactor = 50);
comment on table credit_accounts is 'The sums of a client''s lots. Turns reserve on this row; the nightly check compares it with the lots and the entries';
comment on column credit_accounts.included is 'What is left of the lots of a plan, a package and a grant';
comment on column credit_accounts.extra is 'What is left of the lots that were bought; negative after a refund of used ones';
comment on column credit_accounts.usage_period is 'Number of the period that used_this_period counts; entries of a use carry it';
select protect_tenant_table('credit_accounts');

create table credit_lots (
  workspace_id uuid not null,
  id uuid not null,
  client_id uuid not null,
  source text not null check (source in ('plan', 'package', 'extra', 'grant')),
  grant_key text not null check (char_length(grant_key) between 1 and 300),
  amount bigint not null check (amount >= 1),
  remaining bigint not null,
  priority smallint not null,
  granted_at timestamptz(3) not null,
  expires_at timestamptz(3),
  closed_at timestamptz(3),
  primary key (workspace_id, id),
  constraint credit_lots_account_fkey foreign key (workspace_id, client_id) references credit_accounts (workspace_id, client_id),
  constraint credit_lots_remaining check (remaining <= amount),
  constraint credit_lots_closed check (closed_at is null or remaining = 0)
) with (fillfactor = 70);
comment on column credit_lots.grant_key is 'What granted it: the same cause grants nothing twice';
comment on column credit_lots.remaining is 'Negative: used credits whose payment was given back';
comment on column credit_lots.priority is 'Of lots that expire at the same time, the one with the lowest is used first: granted before paid';
create unique index credit_lots_grant_key on credit_lots (workspace_id, client_id, grant_key, source);
create index credit_lots_open on credit_lots (workspace_id, client_id) where closed_at is null;
create index credit_lots_expiring on credit_lots (expires_at) where closed_at is null and expires_at is not null and source in ('grant', 'extra');
select protect_tenant_table('credit_lots');

create table credit_entries (
  workspace_id uuid not null,
  id uuid not null,
  client_id uuid not null,
  lot_id uuid,
  key text not null check (char_length(key) between 1 and 300),
  kind text not null check (kind in ('grant', 'use', 'expiry', 'reversal', 'correction')),
  amount bigint not null,
  usage_period int,
  turn_id uuid,
  message_id uuid,
  note text check (char_length(note) <= 500),
  created_at timestamptz(3) not null,
  primary key (workspace_id, id),
  constraint credit_entries_lot_fkey foreign key (workspace_id, lot_id) references credit_lots (workspace_id, id),
  constraint credit_entries_account_fkey foreign key (workspace_id, client_id) references credit_accounts (workspace_id, client_id),
  constraint credit_entries_use check ((kind = 'use') = (usage_period is not null))
);
comment on table credit_entries is 'The ledger: what was added to a lot (positive) and taken from it (negative). Rows are only ever added';
comment on column credit_entries.lot_id is 'Null: no lot was changed, as for a message of a client without a limit';
comment on column credit_entries.key is 'What caused it (a turn, an event of the payment provider, a renewal period): the same cause adds nothing twice';
comment on column credit_entries.message_id is 'The reply that used it, which carries its price in cost_ops';
create unique index credit_entries_key on credit_entries (workspace_id, client_id, key, kind, lot_id) nulls not distinct;
create index credit_entries_lot on credit_entries (workspace_id, lot_id);
create index credit_entries_list on credit_entries (workspace_id, client_id, created_at, id);
select protect_tenant_table('credit_entries');
revoke update, delete on credit_entries from guildhall_app, guildhall_system;

create table budgets (
  workspace_id uuid not null,
  id uuid not null,
  scope text not null check (scope in ('workspace', 'agent', 'client', 'end_user')),
  target text not null check (char_length(target) between 1 and 300),
  unit text not null check (unit in ('operations', 'usd')),
  amount numeric(20, 10) not null check (amount >= 0),
  month date not null,
  used numeric(20, 10) not null default 0,
  reserved numeric(20, 10) not null default 0 check (reserved >= 0),
  estimate numeric(20, 10) not null check (estimate > 0),
  created_at timestamptz(3) not null,
  primary key (workspace_id, id),
  constraint budgets_quota check (scope <> 'workspace' or unit = 'usd')
) with (fillfactor = 50);
comment on table budgets is 'Hard limits of a calendar month (UTC). A turn reserves on each that holds for it before its model is asked. Operations of a workspace are its quota, workspaces.operation_limit';
comment on column budgets.month is 'The month that used is of: its first day';
comment on column budgets.estimate is 'What the next turn reserves: 1 operation, or what turns cost of late in USD';
create unique index budgets_target_key on budgets (workspace_id, scope, target, unit);
select protect_tenant_table('budgets');

create table credit_reservations (
  workspace_id uuid not null,
  turn_id uuid not null,
  conversation_id uuid not null,
  client_id uuid,
  credits bigint not null default 0 check (credits >= 0),
  budgets jsonb not null default '[]' check (jsonb_typeof(budgets) = 'array'),
  created_at timestamptz(3) not null default now(),
  primary key (workspace_id, turn_id)
);
comment on table credit_reservations is 'What running turns will need. A turn that ends settles it, and the sweep of dead turns releases it';
create index credit_reservations_old on credit_reservations (created_at);
select protect_tenant_table('credit_reservations');
