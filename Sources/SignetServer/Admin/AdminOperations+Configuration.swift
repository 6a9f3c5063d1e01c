import HTTPTypes
import Logging
import SignetCore

// Changes of clients and journeys while the server runs. They last until a reload, a reset or a restart.
extension AdminOperations {
    /// Adds a client, or replaces the one with the same key.
    ///
    /// Returns true when it is new.
    func put(_ client: RegisteredClient) async throws -> Bool {
        let isNew = try await server.holder.change { before in
            let others = before.clients.all.filter { $0.key != client.key }
            let new = before.with(ClientRegistry(others + [client]))
            try await server.store.replace(clients: new.clients, trees: new.trees)
            return (new, before.clients[client.key] == nil)
        }
        log(isNew ? "a client was added" : "a client was changed", client.id)
        return isNew
    }

    /// Removes a client; its tokens are not valid any more.
    ///
    /// Returns false when it doesn't exist.
    func removeClient(_ key: ClientKey) async throws -> Bool {
        let exists = try await server.holder.change { before in
            let new = before.with(ClientRegistry(before.clients.all.filter { $0.key != key }))
            try await server.store.replace(clients: new.clients, trees: new.trees)
            return (new, before.clients[key] != nil)
        }
        if exists { log("a client was removed", key.id) }
        return exists
    }

    /// Adds a journey, or replaces the one with the same name.
    /// - Parameter read: Reads the journey for the present configuration.
    /// - Returns: The journey, and true when it is new.
    /// - Throws: The error of `read`; `StoreError`.
    func putJourney(
        _ read: (ServerConfiguration) throws -> JourneyTree
    ) async throws -> (tree: JourneyTree, isNew: Bool) {
        let (tree, isNew) = try await server.holder.change { before in
            let tree = try read(before.configuration)
            guard !tree.isInner || !before.usedByClients.contains(tree.name) else { throw APIError.journeyOfClients }
            let trees = before.configuration.journeys.trees.filter { $0.name != tree.name } + [tree]
            let new = before.with(trees)
            try await server.store.replace(clients: new.clients, trees: new.trees)
            return (new, (tree, before.trees[tree.name] == nil))
        }
        log(isNew ? "a journey was added" : "a journey was changed", tree.name)
        return (tree, isNew)
    }

    /// Removes a journey.
    ///
    /// Returns false when it doesn't exist.
    /// - Throws: An error when another journey runs it, or it is the one that runs by default; `StoreError`.
    func removeJourney(_ name: String) async throws -> Bool {
        let exists = try await server.holder.change { before in
            let outer = before.trees.values.filter { $0.name != name && $0.innerTrees.contains(name) }.map(\.name).sorted()
            guard outer.isEmpty else {
                throw APIError(.conflict, "These journeys run it: \(outer.joined(separator: ", ")).")
            }
            let exists = before.trees[name] != nil
            guard !exists || !before.usedByClients.contains(name) else { throw APIError.journeyOfClients }
            let new = before.with(before.configuration.journeys.trees.filter { $0.name != name })
            try await server.store.replace(clients: new.clients, trees: new.trees)
            return (new, exists)
        }
        if exists { log("a journey was removed", name) }
        return exists
    }

    private func log(_ message: Logger.Message, _ name: String) {
        server.logger.notice(message, metadata: ["name": "\(name)"])
    }
}

extension RunningConfiguration {
    /// The journeys that clients start without naming them.
    var usedByClients: [String] { [configuration.defaultJourney, configuration.transactionJourney] }
}

extension APIError {
    static let journeyOfClients = APIError(
        .conflict, "Clients start this journey without naming it (`defaultJourney`, `transactionJourney`).")
}
