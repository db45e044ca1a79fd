#!/usr/bin/env bash
# SQLite with a database in memory: inserts, an index, a sort, deletes, a vacuum.
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

check() {
    need sqlite3 sqlite3
}

run() {
    local rows
    rows=$(times 300000)
    exec sqlite3 :memory: "
        create table t(a integer primary key, b text);
        with recursive n(i) as (select 1 union all select i + 1 from n where i < $rows)
            insert into t select i, hex(randomblob(40)) from n;
        create index x on t(b);
        select count(*) from (select distinct substr(b, 1, 3) from t);
        select sum(length(b)) from (select b from t order by b desc);
        delete from t where a % 3 = 0;
        vacuum;
        select count(*) from t"
}

main "$@"
