"""Models behind the seams: endpoints, embedders, rerankers."""
