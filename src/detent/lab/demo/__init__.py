"""What `detent demo` plays with: a stage and a scripted agent that lies."""
