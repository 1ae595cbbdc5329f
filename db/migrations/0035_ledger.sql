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
  primary key (workspace_id, client_id),
  constraint credit_accounts_client_fkey foreign key (workspace_id, client_id) references clients (workspace_id, id) on delete cascade
) with (fillfactor = 50);
comment on table credit_accounts is 'The sums of a client''s lots. Turns reserve on this row; the nightly check compares it with the lots and the entries';
comment on column credit_accounts.included is 'What is left of the lots of a plan, a package and a grant';
comment on column credit_accounts.extra is 'What is left of the lots that were bought; negative after a refund of used ones';
select protect_tenant_table('credit_accounts');

create table credit_lots (
  workspace_id uuid not null,
  id uuid not null,
  client_id uuid not null,
  source text not null check (source in ('plan', 'package', 'extra', 'grant')),
  amount bigint not null check (amount >= 0),
  remaining bigint not null,
  priority smallint not null,
  granted_at timestamptz(3) not null,
  expires_at timestamptz(3),
  closed_at timestamptz(3),
  primary key (workspace_id, id),
  constraint credit_lots_client_fkey foreign key (workspace_id, client_id) references clients (workspace_id, id) on delete cascade,
  constraint credit_lots_remaining check (remaining <= amount)
) with (fillfactor = 70);
comment on column credit_lots.priority is 'Of lots that expire at the same time, the one with the lowest is used first: granted before paid';
create index credit_lots_open on credit_lots (workspace_id, client_id, expires_at, priority) where closed_at is null;
create index credit_lots_expiring on credit_lots (expires_at) where closed_at is null and expires_at is not null;
select protect_tenant_table('credit_lots');

create table credit_entries (
  workspace_id uuid not null,
  id uuid not null,
  client_id uuid not null,
  lot_id uuid not null,
  key text not null check (char_length(key) between 1 and 300),
  kind text not null check (kind in ('grant', 'use', 'expiry', 'reversal', 'correction')),
  amount bigint not null,
  turn_id uuid,
  message_id uuid,
  note text check (char_length(note) <= 500),
  created_at timestamptz(3) not null default now(),
  primary key (workspace_id, id),
  constraint credit_entries_lot_fkey foreign key (workspace_id, lot_id) references credit_lots (workspace_id, id) on delete cascade,
  constraint credit_entries_client_fkey foreign key (workspace_id, client_id) references clients (workspace_id, id) on delete cascade
);
comment on table credit_entries is 'The ledger: what was added to a lot (positive) and taken from it (negative). Rows are only ever added';
comment on column credit_entries.key is 'What caused it (a turn, an event of the payment provider, a renewal period): the same cause adds nothing twice';
create unique index credit_entries_key on credit_entries (workspace_id, client_id, key, lot_id);
create index credit_entries_lot on credit_entries (workspace_id, lot_id);
create index credit_entries_list on credit_entries (workspace_id, client_id, created_at, id);
select protect_tenant_table('credit_entries');

create table budgets (
  workspace_id uuid not null,
  id uuid not null,
  scope text not null check (scope in ('workspace', 'agent', 'client', 'end_user')),
  target text not null check (char_length(target) between 1 and 300),
  unit text not null check (unit in ('operations', 'usd')),
  amount numeric(20, 10) not null check (amount >= 0),
  period_start timestamptz(3) not null,
  used numeric(20, 10) not null default 0,
  reserved numeric(20, 10) not null default 0 check (reserved >= 0),
  created_at timestamptz(3) not null default now(),
  primary key (workspace_id, id)
) with (fillfactor = 50);
comment on table budgets is 'Hard limits of a calendar month. A turn reserves on each that holds for it before its model is asked';
create unique index budgets_scope_key on budgets (workspace_id, scope, target, unit);
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
