-- Why: what an agent remembers of a person is bound to an external user id, so a person on a channel keeps one, by whatever the provider
-- names it later. Who may decide on calls that wait for an approval is a setting.

alter table end_users add column external_user_id text not null check (char_length(external_user_id) between 1 and 255);
comment on column end_users.external_user_id is 'Of all conversations of the person on the connection, and of what agents remember of it';
create index end_users_of_external_id on end_users (workspace_id, external_user_id);

alter table workspaces add column approvals_by text check (approvals_by in ('user', 'operator'));
comment on column workspaces.approvals_by is 'Who decides on calls that wait for an approval; null = an operator on channels, the user through the API';
alter table agents add column approvals_by text check (approvals_by in ('user', 'operator'));
comment on column agents.approvals_by is 'Who decides on calls that wait for an approval; null = as the workspace says';
