"""Our own Streamlit components: deck (knobs), board (what moves), tape (what does not), gallery, sketch."""
