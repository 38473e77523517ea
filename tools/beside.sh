# To be sourced: functions of a script that run beside one another.

jobs_beside=()

# End what still runs, and what that has started; each job is a process group of its own.
end_beside() {
    local job
    for job in ${jobs_beside[@]+"${jobs_beside[@]}"}; do
        kill -- "-$job" 2>/dev/null || true
    done
    jobs_beside=()
    [ -z "${outputs_beside:-}" ] || rm -rf "$outputs_beside"
}

# beside FUNCTION...: run all at once and wait for each, in the order given. What one has written is
# shown together once it has ended; one that fails fails this, after the output of all. A script
# that ends meanwhile, by Ctrl+C too, leaves none of them running.
beside() {
    local name place status failed=0
    outputs_beside="$(mktemp -d)"
    trap end_beside EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    trap 'exit 129' HUP
    set -m # a process group for each
    for name in "$@"; do
        (set -e; trap - EXIT INT TERM HUP; "$name") >"$outputs_beside/$name" 2>&1 </dev/null &
        jobs_beside+=("$!")
    done
    set +m
    for name in "$@"; do
        place="${jobs_beside[0]}"
        status=0
        wait "$place" || status=$?
        jobs_beside=("${jobs_beside[@]:1}")
        cat "$outputs_beside/$name"
        if [ "$status" != 0 ]; then
            echo "$name failed ($status)" >&2
            failed="$status"
        fi
    done
    end_beside
    trap - EXIT INT TERM HUP
    return "$failed"
}
