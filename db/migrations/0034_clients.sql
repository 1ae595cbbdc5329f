-- Why: the customers of a hub are workspaces with users, a plan and a billing period. They belong to the agency's workspace: what they pay
-- for are conversations with its agents.

create table clients (
  workspace_id uuid not null,
  id uuid not null,
  name text not null check (char_length(name) between 1 and 150),
  status text not null check (status in ('active', 'past_due', 'canceled', 'trialing', 'pending_onboarding', 'suspended')),
  plan_id uuid,
  period_start timestamptz(3),
  period_end timestamptz(3),
  billing_anchor timestamptz(3),
  next_credit_renewal_at timestamptz(3),
  pending_plan_id uuid,
  pending_plan_at timestamptz(3),
  coupon_id uuid,
  coupon_ends_at timestamptz(3),
  suspension_code text check (suspension_code in
    ('customer_request', 'payment_failed', 'switching_provider', 'not_needed', 'price', 'feature_missing', 'other')),
  suspension_reason text check (char_length(suspension_reason) <= 500),
  suspended_at timestamptz(3),
  provider_customer_id text,
  provider_subscription_id text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  due_at timestamptz(3) generated always as (case when deleted_at is null and status in ('active', 'trialing') then least(
    case when provider_subscription_id is null then period_end end,
    case when next_credit_renewal_at < coalesce(period_end, 'infinity'::timestamptz) then next_credit_renewal_at end
  ) end) stored,
  primary key (workspace_id, id),
  constraint clients_plan_fkey foreign key (workspace_id, plan_id) references plans (workspace_id, id),
  constraint clients_pending_plan_fkey foreign key (workspace_id, pending_plan_id) references plans (workspace_id, id),
  constraint clients_coupon_fkey foreign key (workspace_id, coupon_id) references coupons (workspace_id, id),
  constraint clients_pending_plan check ((pending_plan_id is null) = (pending_plan_at is null)),
  constraint clients_period check (period_end > period_start)
) with (fillfactor = 80);
comment on column clients.billing_anchor is 'From when whole months are counted: 31 January gives 28 February, and 31 March after it';
comment on column clients.due_at is 'When the service has something to do by itself. The period of a client with a provider subscription is renewed by its payments only';
comment on column clients.next_credit_renewal_at is 'When included credits are granted again; null = they are not';
create unique index clients_name_key on clients (workspace_id, lower(name)) where deleted_at is null;
create index clients_list on clients (workspace_id, created_at desc, id desc) where deleted_at is null;
create index clients_plan on clients (workspace_id, plan_id) where plan_id is not null;
create index clients_pending_plan on clients (workspace_id, pending_plan_id) where pending_plan_id is not null;
create index clients_coupon on clients (workspace_id, coupon_id) where coupon_id is not null;
create unique index clients_subscription_key on clients (workspace_id, provider_subscription_id) where provider_subscription_id is not null;
create index clients_due on clients (due_at) where due_at is not null;
select protect_tenant_table('clients');

create table client_changes (
  workspace_id uuid not null,
  client_id uuid not null,
  key text not null check (char_length(key) between 1 and 300),
  kind text not null,
  status_before text not null,
  status_after text not null,
  plan_id uuid,
  created_at timestamptz(3) not null default now(),
  primary key (workspace_id, client_id, key),
  constraint client_changes_client_fkey foreign key (workspace_id, client_id) references clients (workspace_id, id) on delete cascade
);
comment on table client_changes is 'What has happened to the subscription of a client. Rows are only ever added: what is here was done, and is not done again';
comment on column client_changes.key is 'What caused it: an event of the payment provider, the begin of a period, a request';
create index client_changes_list on client_changes (workspace_id, client_id, created_at);
select protect_tenant_table('client_changes');

create table client_users (
  workspace_id uuid not null,
  id uuid not null,
  client_id uuid not null,
  email text not null check (char_length(email) between 3 and 320),
  name text not null check (char_length(name) between 1 and 255),
  role text not null check (role in ('admin', 'member', 'editor', 'viewer')),
  onboarded_at timestamptz(3),
  last_seen_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  primary key (workspace_id, id),
  constraint client_users_client_fkey foreign key (workspace_id, client_id) references clients (workspace_id, id) on delete cascade
);
create unique index client_users_email_key on client_users (workspace_id, client_id, lower(email)) where deleted_at is null;
create index client_users_sign_in on client_users (workspace_id, lower(email)) where deleted_at is null;
select protect_tenant_table('client_users');

create table client_invitations (
  workspace_id uuid not null,
  id uuid not null,
  client_id uuid not null,
  user_id uuid not null,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  accepted_at timestamptz(3),
  primary key (workspace_id, id),
  constraint client_invitations_client_fkey foreign key (workspace_id, client_id) references clients (workspace_id, id) on delete cascade,
  constraint client_invitations_user_fkey foreign key (workspace_id, user_id) references client_users (workspace_id, id) on delete cascade
);
create unique index client_invitations_user_key on client_invitations (workspace_id, user_id);
create index client_invitations_client on client_invitations (workspace_id, client_id);
select protect_tenant_table('client_invitations');

create table client_tokens (
  workspace_id uuid not null,
  token_hash bytea not null check (octet_length(token_hash) = 32),
  user_id uuid not null,
  kind text not null check (kind in ('invitation', 'sign_in', 'session')),
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  primary key (workspace_id, token_hash),
  constraint client_tokens_user_fkey foreign key (workspace_id, user_id) references client_users (workspace_id, id) on delete cascade
);
comment on table client_tokens is 'Secrets of the users of clients: the link of an invitation, a link to sign in, a session. A link is removed when it is used';
create index client_tokens_user on client_tokens (workspace_id, user_id, kind);
create index client_tokens_expired on client_tokens (expires_at);
select protect_tenant_table('client_tokens');

alter table conversations
  add column client_id uuid,
  add column client_user_id uuid,
  add constraint conversations_client_fkey foreign key (workspace_id, client_id) references clients (workspace_id, id),
  add constraint conversations_client_user_fkey foreign key (workspace_id, client_user_id) references client_users (workspace_id, id);
comment on column conversations.client_id is 'The client that pays for its messages; null = nobody does';
create index conversations_of_client on conversations (workspace_id, client_id) include (cost_usd) where client_id is not null;
create index conversations_of_client_user on conversations (workspace_id, client_user_id) where client_user_id is not null;
