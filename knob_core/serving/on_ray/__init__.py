"""The same service on Ray Serve: several replicas, on one machine or many, each with streams of its own.

    knob serve knob-ode-s0 --ray --replicas 2 --state /shared/knob
    serve deploy docs/serve-ray.yaml

A stream sticks to one replica by its id (`router`), a replica batches its streams as a service alone does, and saves
their states in a shared folder, where the replica that takes over finds them (`knob_core.serving.stream_files`). The
`hub` has the knobs and tells every replica of them. Needs the extra `ray`; only this folder imports Ray.
"""
