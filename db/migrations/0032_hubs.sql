-- Why: an agency resells its agents under a name of its own. Each workspace has one hub, and the name that leads to it belongs to one
-- workspace only.

create table hubs (
  workspace_id uuid primary key references workspaces (id),
  id uuid not null,
  name text not null check (char_length(name) between 1 and 200),
  description text check (char_length(description) <= 500),
  access_type text not null default 'private' check (access_type in ('public', 'private')),
  self_service_enabled boolean not null default false,
  default_plan_id uuid,
  trial_plan_id uuid,
  trial_days int check (trial_days between 1 and 365),
  subdomain text,
  locale text not null default 'en-US' check (char_length(locale) between 2 and 35),
  theme text not null default 'light' check (theme in ('light', 'dark')),
  primary_color text check (primary_color ~ '^#[0-9A-Fa-f]{6}$'),
  secondary_color text check (secondary_color ~ '^#[0-9A-Fa-f]{6}$'),
  pricing_widget_color text check (pricing_widget_color ~ '^#[0-9A-Fa-f]{6}$'),
  logo_horizontal_key text,
  logo_icon_key text,
  logo_email_key text,
  logo_banner_key text,
  support_channel_type text check (support_channel_type in ('email', 'whatsapp', 'url')),
  support_channel_value text check (char_length(support_channel_value) <= 500),
  support_email text check (char_length(support_email) <= 255),
  support_whatsapp_message text check (char_length(support_whatsapp_message) <= 500),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint hubs_trial check ((trial_plan_id is null) = (trial_days is null))
) with (fillfactor = 80);
comment on table hubs is 'The branded place where the clients of a workspace use its agents; one for each workspace, made on demand';
comment on column hubs.subdomain is 'As in hub_names, which says whose it is';
comment on column hubs.locale is 'BCP 47 tag: how prices and dates are written for its visitors';
comment on column hubs.trial_days is 'Days of a trial; null = the hub offers none';
comment on column hubs.logo_horizontal_key is 'Key in the file store; null = no such logo';
-- Before a file is stored there is a row that says so: whatever ends the process, a file that no hub shows is found and removed.
create table hub_logos (
  workspace_id uuid not null,
  key text not null check (char_length(key) between 1 and 200),
  size_bytes bigint not null check (size_bytes >= 0),
  created_at timestamptz(3) not null default now(),
  purge_at timestamptz(3),
  primary key (workspace_id, key)
);
comment on table hub_logos is 'Files of logos that are stored, being stored, or not removed yet';
comment on column hub_logos.purge_at is 'When the file is removed; null while a hub shows it';
create index hub_logos_purge on hub_logos (purge_at) where purge_at is not null;
select protect_tenant_table('hub_logos');

create index hubs_default_plan on hubs (workspace_id, default_plan_id) where default_plan_id is not null;
create index hubs_trial_plan on hubs (workspace_id, trial_plan_id) where trial_plan_id is not null;
select protect_tenant_table('hubs');

-- Visitors name a host, and nothing else says whose hub it is.
create table hub_names (
  name text primary key check (char_length(name) between 1 and 253 and name = lower(name)),
  workspace_id uuid not null references workspaces (id),
  kind text not null check (kind in ('subdomain', 'domain')),
  token text check (char_length(token) between 1 and 100),
  created_at timestamptz(3) not null default now(),
  verified_at timestamptz(3),
  released_at timestamptz(3),
  constraint hub_names_token check ((kind = 'domain') = (token is not null))
);
comment on table hub_names is 'Reference table: subdomains (without a dot) and custom domains of hubs, unique over all workspaces';
comment on column hub_names.token is 'What the TXT record of a custom domain must say';
comment on column hub_names.verified_at is 'Since when requests for a custom domain are answered; null until its TXT record was seen, and for subdomains';
comment on column hub_names.released_at is 'When its hub gave it up: it leads nowhere, and no other hub gets it for 30 days';
create index hub_names_workspace on hub_names (workspace_id);
select protect_tenant_table('hub_names');

create table external_links (
  workspace_id uuid not null,
  id uuid not null,
  title text not null check (char_length(title) between 1 and 100),
  url text not null check (char_length(url) <= 2048),
  display_order int not null check (display_order >= 1),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  primary key (workspace_id, id)
);
comment on table external_links is 'Links in the menu of a hub';
create unique index external_links_title_key on external_links (workspace_id, lower(title)) where deleted_at is null;
select protect_tenant_table('external_links');
