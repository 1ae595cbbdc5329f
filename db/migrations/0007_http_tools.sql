-- Why: tools that agents call: an HTTP request, a database query, a variable, or operations of a third-party API.

alter table workspaces add column tool_limit int default 500 check (tool_limit >= 0);
comment on column workspaces.tool_limit is 'Most HTTP tools that are not deleted; null = no limit';

create table http_tools (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  name text not null check (char_length(name) <= 150 and name ~ '^[a-zA-Z0-9_-]+$'),
  description text check (char_length(description) <= 1000),
  tool_type text not null check (tool_type in ('HTTP_REQUEST', 'DATABASE_QUERY', 'INTERNAL_VARIABLE', 'CUSTOM_INTEGRATION')),
  requires_approval boolean not null default false,
  configuration json not null check (json_typeof(configuration) = 'object'),
  secrets bytea,
  operations json check (json_typeof(operations) = 'array'),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  primary key (workspace_id, id),
  constraint http_tools_operations_of_integrations check ((tool_type = 'CUSTOM_INTEGRATION') = (operations is not null))
);
comment on column http_tools.configuration is 'As it was sent, secret values replaced by ********. json and not jsonb: models read an inputSchema in its order';
comment on column http_tools.secrets is 'The secret values of the configuration, {JSON Pointer: text}, encrypted for this row; null when it has none';
comment on column http_tools.operations is 'What was imported from the OpenAPI document of a CUSTOM_INTEGRATION when the configuration was written';
create unique index http_tools_name_key on http_tools (workspace_id, name) where deleted_at is null;
create index http_tools_list on http_tools (workspace_id, created_at desc, id desc) where deleted_at is null;
select protect_tenant_table('http_tools');
