create table entries (
    id integer primary key, key blob not null unique, value blob not null,
    fresh_until real not null, stale_until real not null, used real not null -- when it was written
);

create index entries_by_end on entries (stale_until);

create index entries_by_use on entries (used);

create table counters (key blob primary key, total real not null, until real) without rowid;

create table paces (key blob primary key, arrival real not null) without rowid;

create table leases (key blob primary key, owner text not null, until real not null) without rowid;

create table taken (bytes integer not null);

insert into taken values (0);

create trigger entry_in after insert on entries
    begin update taken set bytes = bytes + length(new.key) + length(new.value) + 100; end;

create trigger entry_out after delete on entries
    begin update taken set bytes = bytes - length(old.key) - length(old.value) - 100; end;

create trigger entry_changed after update of value on entries
    begin update taken set bytes = bytes - length(old.value) + length(new.value); end;

create table registers (key blob primary key, last integer not null, until real not null) without rowid;

create table names (
    key blob not null, name blob not null, number integer not null, primary key (key, name)
) without rowid;

create table notes (
    key blob not null, digest blob not null, place integer not null, primary key (key, digest)
) without rowid;
