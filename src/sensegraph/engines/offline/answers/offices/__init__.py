"""Who held what office when: claims are read from sentences, settled into terms, and told."""
