-- Why: whoever finds the page of a plan can begin purchases. How many strangers have begun within a day is counted before the next one.

alter table checkouts add column is_of_stranger boolean not null default false;
comment on column checkouts.is_of_stranger is 'Begun by somebody who was not signed in';
create index checkouts_of_strangers on checkouts (workspace_id, created_at) include (email) where is_of_stranger;
