-- Why: while the planner takes a workspace for one that has hardly any turns (a new database without statistics, or one whose other
-- workspaces have few), it found a turn by its key with these indexes, and read all turns of the workspace. Plans are kept for as long as
-- the statistics are, so that each message cost more than the one before. With a condition that every row fulfils they fit only the
-- statements that name their second column.

drop index turns_of_conversation;
drop index turns_of_month;
create index turns_of_conversation on turns (workspace_id, conversation_id, started_at) where conversation_id is not null;
create index turns_of_month on turns (workspace_id, started_at) where started_at is not null;
