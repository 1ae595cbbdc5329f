-- Why: what an agent remembers of a person is bound to an external user id, so a person on a channel keeps one, by whatever the provider
-- names it later. Who may decide on calls that wait for an approval is a setting.

alter table end_users add column external_user_id text not null check (char_length(external_user_id) between 1 and 255);
comment on column end_users.external_user_id is 'Of all conversations of the person on the connection, and of what agents remember of it';
create index end_users_of_external_id on end_users (workspace_id, external_user_id);

alter table workspaces add column approvals_by text check (approvals_by in ('user', 'operator'));
comment on column workspaces.approvals_by is 'Who decides on calls that wait for an approval; null = an operator on channels, the user through the API';
alter table agents add column approvals_by text check (approvals_by in ('user', 'operator'));
comment on column agents.approvals_by is 'Who decides on calls that wait for an approval; null = as the workspace says';

-- A conversation may have several turns that wait: a waiting call belongs to the turn that waits for it. Until now there was one at most,
-- and a call that it had taken over from an earlier turn still named that one.
alter table approvals no force row level security;
alter table turns no force row level security;
update approvals set turn_id = t.id from turns t
where t.workspace_id = approvals.workspace_id and t.conversation_id = approvals.conversation_id and t.paused is not null
  and approvals.status = 'pending' and approvals.turn_id <> t.id;
alter table approvals force row level security;
alter table turns force row level security;
