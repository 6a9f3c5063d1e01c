// An empty stand-in for Apple's C library: with it, `canImport(Darwin)` is true. The calls that are the same in Glibc come from
// Glibc; Network/Spawn.swift declares those that differ.
