-- Why: an agency sells its agents by plans. A plan has a price, a package of agents and pages, and credits; a coupon lowers its price.

create table credit_packages (
  workspace_id uuid not null,
  id uuid not null,
  name text not null check (char_length(name) between 1 and 100),
  credit_value_cents int not null check (credit_value_cents >= 1),
  credits_amount int not null check (credits_amount >= 1),
  extra_credits_amount int check (extra_credits_amount >= 1),
  renewal_interval_months int check (renewal_interval_months >= 1),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  primary key (workspace_id, id)
);
comment on column credit_packages.extra_credits_amount is 'Bonus on top of credits_amount';
comment on column credit_packages.renewal_interval_months is 'Months after which the credits are granted again; null = they are granted once';
create unique index credit_packages_name_key on credit_packages (workspace_id, lower(name)) where deleted_at is null;
create index credit_packages_list on credit_packages (workspace_id, created_at desc, id desc) where deleted_at is null;
select protect_tenant_table('credit_packages');

create table hub_packages (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  pages text[] not null check (cardinality(pages) >= 1),
  section_ordering jsonb not null check (jsonb_typeof(section_ordering) = 'array'),
  created_at timestamptz(3) not null default now(),
  primary key (workspace_id, id)
);
comment on table hub_packages is 'What a plan gives access to. Several plans may share one, so it is never changed: a plan with other content gets another';
select protect_tenant_table('hub_packages');

create table hub_package_agents (
  workspace_id uuid not null,
  package_id uuid not null,
  agent_id uuid not null,
  place int not null,
  primary key (workspace_id, package_id, agent_id),
  constraint hub_package_agents_package_fkey foreign key (workspace_id, package_id) references hub_packages (workspace_id, id) on delete cascade,
  constraint hub_package_agents_agent_fkey foreign key (workspace_id, agent_id) references agents (workspace_id, id) on delete cascade
);
create index hub_package_agents_agent on hub_package_agents (workspace_id, agent_id);
select protect_tenant_table('hub_package_agents');

create table hub_package_links (
  workspace_id uuid not null,
  package_id uuid not null,
  link_id uuid not null,
  place int not null,
  primary key (workspace_id, package_id, link_id),
  constraint hub_package_links_package_fkey foreign key (workspace_id, package_id) references hub_packages (workspace_id, id) on delete cascade,
  constraint hub_package_links_link_fkey foreign key (workspace_id, link_id) references external_links (workspace_id, id) on delete cascade
);
create index hub_package_links_link on hub_package_links (workspace_id, link_id);
select protect_tenant_table('hub_package_links');

create table plans (
  workspace_id uuid not null,
  id uuid not null,
  name text not null check (char_length(name) between 3 and 100),
  description text check (char_length(description) <= 500),
  status text not null default 'active' check (status in ('active', 'inactive')),
  billing_type text not null check (billing_type in ('one_time', 'recurring')),
  billing_interval_months int not null check (billing_interval_months >= 0),
  price_cents int not null check (price_cents >= 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  unlimited_credits boolean not null default false,
  extra_credits_enabled boolean not null default false,
  extra_credits_price_cents int check (extra_credits_price_cents >= 1),
  seats_included int not null check (seats_included >= 1),
  visible boolean not null default true,
  credit_package_id uuid,
  hub_package_id uuid,
  widget_title text check (char_length(widget_title) <= 50),
  widget_description text check (char_length(widget_description) <= 100),
  widget_cta_text text check (char_length(widget_cta_text) <= 30),
  widget_highlighted boolean not null default false,
  widget_features jsonb not null default '[]' check (jsonb_typeof(widget_features) = 'array'),
  provider_product_id text,
  provider_price_id text,
  provider_payment_link_id text,
  provider_payment_link_url text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  primary key (workspace_id, id),
  constraint plans_credit_package_fkey foreign key (workspace_id, credit_package_id) references credit_packages (workspace_id, id),
  constraint plans_hub_package_fkey foreign key (workspace_id, hub_package_id) references hub_packages (workspace_id, id),
  constraint plans_content check (hub_package_id is not null or deleted_at is not null),
  constraint plans_interval check (billing_type = 'one_time' or billing_interval_months >= 1)
) with (fillfactor = 80);
comment on column plans.price_cents is 'In the smallest unit of the currency';
comment on column plans.hub_package_id is 'Null when the plan is deleted and nothing needs its content any more';
comment on column plans.provider_product_id is 'Its counterpart at the payment provider; null = it has none';
create unique index plans_name_key on plans (workspace_id, lower(name)) where deleted_at is null;
create index plans_list on plans (workspace_id, created_at desc, id desc) where deleted_at is null;
create index plans_credit_package on plans (workspace_id, credit_package_id) where credit_package_id is not null;
create index plans_hub_package on plans (workspace_id, hub_package_id);
select protect_tenant_table('plans');

alter table hubs
  add constraint hubs_default_plan_fkey foreign key (workspace_id, default_plan_id) references plans (workspace_id, id),
  add constraint hubs_trial_plan_fkey foreign key (workspace_id, trial_plan_id) references plans (workspace_id, id);

create table coupons (
  workspace_id uuid not null,
  id uuid not null,
  code text not null check (code ~ '^[A-Za-z0-9_]{3,50}$'),
  name text check (char_length(name) <= 100),
  active boolean not null default true,
  discount_type text not null check (discount_type in ('percentage', 'fixed_amount')),
  discount_value int not null check (discount_value >= 1),
  currency text check (currency ~ '^[A-Z]{3}$'),
  duration text not null check (duration in ('once', 'repeating', 'forever')),
  duration_months int check (duration_months between 1 and 36),
  scope text not null check (scope in ('hub', 'plans')),
  max_uses int check (max_uses >= 1),
  times_used int not null default 0 check (times_used >= 0),
  valid_from timestamptz(3) not null,
  valid_until timestamptz(3),
  provider_coupon_id text,
  provider_promotion_code_id text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  primary key (workspace_id, id),
  constraint coupons_percentage check (discount_type <> 'percentage' or discount_value <= 100),
  constraint coupons_currency check ((discount_type = 'fixed_amount') = (currency is not null)),
  constraint coupons_duration check ((duration = 'repeating') = (duration_months is not null)),
  constraint coupons_uses check (times_used <= max_uses)
) with (fillfactor = 80);
comment on column coupons.times_used is 'Redemptions that hold: those of checkouts under way and of completed ones';
create unique index coupons_code_key on coupons (workspace_id, lower(code)) where deleted_at is null;
create index coupons_list on coupons (workspace_id, created_at desc, id desc) where deleted_at is null;
select protect_tenant_table('coupons');

create table coupon_plans (
  workspace_id uuid not null,
  coupon_id uuid not null,
  plan_id uuid not null,
  place int not null,
  primary key (workspace_id, coupon_id, plan_id),
  constraint coupon_plans_coupon_fkey foreign key (workspace_id, coupon_id) references coupons (workspace_id, id) on delete cascade,
  constraint coupon_plans_plan_fkey foreign key (workspace_id, plan_id) references plans (workspace_id, id) on delete cascade
);
create index coupon_plans_plan on coupon_plans (workspace_id, plan_id);
select protect_tenant_table('coupon_plans');
