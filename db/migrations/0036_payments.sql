-- Why: the hub is the merchant. What the payment provider tells is stored before it is acknowledged and applied once; what is made there is
-- written down before it is made, so that a crash in between can be healed.

alter table hubs
  add column payment_mode text not null default 'invoice' check (payment_mode in ('invoice', 'account', 'own')),
  add column payment_account text check (char_length(payment_account) between 1 and 100),
  add column application_fee_percent numeric(5, 2) check (application_fee_percent between 0 and 100),
  add column branding_synced_at timestamptz(3),
  add column payments_compared_at timestamptz(3),
  add constraint hubs_payment_account check ((payment_mode = 'account') = (payment_account is not null));
comment on column hubs.payment_mode is 'invoice: no payment provider. account: the connected account of the hub. own: the account of the installation';
comment on column hubs.payments_compared_at is 'When its subscriptions were last compared with those of the payment provider';
create index hubs_payments_compared on hubs (payments_compared_at) where payment_mode <> 'invoice';

alter table public_addresses drop constraint public_addresses_kind_check;
alter table public_addresses add constraint public_addresses_kind_check check (kind in ('automation', 'channel', 'payments'));
comment on table public_addresses is 'Addresses under /hooks and /chat, and accounts at the payment provider. An address is 160 random bits, the id of a channel connection, or payments:<account>; only its hash is stored';

create table checkouts (
  workspace_id uuid not null,
  id uuid not null,
  plan_id uuid not null,
  client_id uuid,
  coupon_id uuid,
  kind text not null check (kind in ('plan', 'extra_credits')),
  email text not null check (char_length(email) between 3 and 320),
  name text not null check (char_length(name) between 1 and 255),
  workspace_name text not null check (char_length(workspace_name) between 1 and 150),
  status text not null default 'open' check (status in ('open', 'completed', 'expired', 'invoice')),
  credits bigint check (credits >= 1),
  amount_cents bigint not null check (amount_cents >= 0),
  provider_session_id text,
  provider_session_url text check (char_length(provider_session_url) <= 5000),
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  completed_at timestamptz(3),
  primary key (workspace_id, id),
  constraint checkouts_plan_fkey foreign key (workspace_id, plan_id) references plans (workspace_id, id),
  constraint checkouts_client_fkey foreign key (workspace_id, client_id) references clients (workspace_id, id),
  constraint checkouts_coupon_fkey foreign key (workspace_id, coupon_id) references coupons (workspace_id, id)
) with (fillfactor = 80);
comment on table checkouts is 'Purchases under way. An open one holds a use of its coupon until it expires';
comment on column checkouts.credits is 'Extra credits that it buys; null for a plan';
comment on column checkouts.amount_cents is 'What is paid first, after the coupon, in the smallest unit of the plan''s currency';
create unique index checkouts_open_client on checkouts (workspace_id, client_id) where status = 'open' and kind = 'plan' and client_id is not null;
create unique index checkouts_open_buyer on checkouts (workspace_id, lower(email), lower(workspace_name)) where status = 'open' and client_id is null;
create unique index checkouts_session_key on checkouts (workspace_id, provider_session_id) where provider_session_id is not null;
create index checkouts_plan on checkouts (workspace_id, plan_id);
create index checkouts_client on checkouts (workspace_id, client_id) where client_id is not null;
create index checkouts_coupon on checkouts (workspace_id, coupon_id) where coupon_id is not null;
create index checkouts_open on checkouts (expires_at) where status = 'open';
select protect_tenant_table('checkouts');

create table payment_events (
  workspace_id uuid not null,
  id text not null check (char_length(id) between 1 and 255),
  type text not null,
  payload jsonb not null check (jsonb_typeof(payload) = 'object'),
  status text not null default 'received' check (status in ('received', 'applied', 'ignored', 'failed')),
  attempts int not null default 0 check (attempts >= 0),
  due_at timestamptz(3) not null default now(),
  error_message text check (char_length(error_message) <= 1000),
  created_at timestamptz(3) not null,
  received_at timestamptz(3) not null default now(),
  settled_at timestamptz(3),
  primary key (workspace_id, id)
) with (fillfactor = 80);
comment on table payment_events is 'Events of the payment provider as they came. Each is applied once, in whatever order they arrive';
create index payment_events_waiting on payment_events (due_at) where status = 'received';
create index payment_events_list on payment_events (workspace_id, received_at desc, id);
select protect_tenant_table('payment_events');

create table payment_intents (
  workspace_id uuid not null,
  id uuid not null,
  kind text not null,
  subject_id uuid not null,
  provider_ids jsonb not null default '{}' check (jsonb_typeof(provider_ids) = 'object'),
  account text,
  status text not null default 'open' check (status in ('open', 'done', 'undone')),
  attempts int not null default 0 check (attempts >= 0),
  due_at timestamptz(3) not null,
  error_message text check (char_length(error_message) <= 1000),
  created_at timestamptz(3) not null default now(),
  primary key (workspace_id, id)
) with (fillfactor = 80);
comment on table payment_intents is 'What is about to be made or changed at the payment provider. One that stays open is healed by the reconciler';
comment on column payment_intents.account is 'The account that it is made for; null = the installation''s own';
comment on column payment_intents.due_at is 'When the reconciler looks at one that is still open';
create index payment_intents_open on payment_intents (due_at) where status = 'open';
create index payment_intents_subject on payment_intents (workspace_id, subject_id) where status = 'open';
select protect_tenant_table('payment_intents');
