import Logging
import SignetCore

/// A configuration that requests and their transactions refer to, because it is too large to be copied for each of them.
final class SharedSettings: Sendable {
    let configuration: ServerConfiguration

    init(_ configuration: ServerConfiguration) { self.configuration = configuration }
}

/// The configuration that is in effect, without users and credentials.
final class RunningConfiguration: Sendable {
    let settings: SharedSettings
    let clients: ClientRegistry
    let trees: [String: JourneyTree]
    let fingerprint: ConfigurationFingerprint
    /// True when a user of the configuration is an administrator and may use AM's configuration REST.
    let hasAdministrator: Bool
    /// The documents that clients of AM's configuration REST have stored.
    let documents: ConfigurationDocuments

    /// Takes over a configuration.
    convenience init(_ configuration: ServerConfiguration) {
        self.init(
            configuration.withoutSecrets, ClientRegistry(configuration.clients), configuration.journeys.trees.byName,
            ConfigurationFingerprint(configuration), hasAdministrator: configuration.users.contains(where: \.isAdministrator))
    }

    private init(
        _ configuration: ServerConfiguration, _ clients: ClientRegistry, _ trees: [String: JourneyTree],
        _ fingerprint: ConfigurationFingerprint, hasAdministrator: Bool,
        _ documents: ConfigurationDocuments = ConfigurationDocuments()
    ) {
        settings = SharedSettings(configuration)
        (self.clients, self.trees, self.fingerprint) = (clients, trees, fingerprint)
        (self.hasAdministrator, self.documents) = (hasAdministrator, documents)
    }

    var configuration: ServerConfiguration { settings.configuration }

    /// The longest lifetime of a signed token of any client, in seconds.
    var longestTokenLifetime: Int {
        let lifetimes = [configuration.lifetimes] + clients.all.compactMap(\.lifetimes)
        return lifetimes.reduce(1) { max($0, $1.accessToken, $1.idToken) }
    }

    /// Returns a new configuration with the settings of this one that need a restart, and the difference from this one.
    func reloaded(_ new: ServerConfiguration) -> (RunningConfiguration, ConfigurationDifference) {
        var (settings, fingerprint) = (new.withoutSecrets, ConfigurationFingerprint(new))
        let difference = self.fingerprint.difference(to: fingerprint)
        let kept = ReloadableSetting.all.filter { $0.keep != nil }
        for setting in kept {
            setting.keep?(&settings, configuration)
            fingerprint.settings[setting.name] = self.fingerprint.settings[setting.name]
        }
        // These come from the command line or the program, and not from a file.
        (settings.host, settings.port, settings.adminToken) = (configuration.host, configuration.port, configuration.adminToken)
        settings.onEmail = configuration.onEmail
        return (
            RunningConfiguration(
                settings, ClientRegistry(new.clients), new.journeys.trees.byName, fingerprint,
                hasAdministrator: new.users.contains(where: \.isAdministrator)), difference
        )
    }

    /// Returns the configuration with other clients.
    func with(_ clients: ClientRegistry) -> RunningConfiguration {
        var fingerprint = fingerprint
        fingerprint.clients = Dictionary(
            clients.all.map { (ConfigurationDifference.name($0.id, in: $0.realm), $0.hashValue) }, uniquingKeysWith: { $1 })
        return RunningConfiguration(
            configuration, clients, trees, fingerprint, hasAdministrator: hasAdministrator, documents)
    }

    /// Returns the configuration with other journeys.
    func with(_ trees: [JourneyTree]) -> RunningConfiguration {
        var (configuration, fingerprint) = (configuration, fingerprint)
        configuration.journeys = Journeys(trees)
        fingerprint.journeys = Dictionary(trees.map { ($0.name, $0.fingerprint) }, uniquingKeysWith: { $1 })
        return RunningConfiguration(
            configuration, clients, trees.byName, fingerprint, hasAdministrator: hasAdministrator, documents)
    }

    /// Returns the configuration with other documents of AM's configuration REST.
    func with(_ documents: ConfigurationDocuments) -> RunningConfiguration {
        RunningConfiguration(configuration, clients, trees, fingerprint, hasAdministrator: hasAdministrator, documents)
    }
}

/// The running configuration of a server, which reloads and requests of testers change.
final class ConfigurationHolder: Sendable {
    private struct Content: Sendable {
        var current: RunningConfiguration
        /// The configuration that a reset restores: that of the start, or of the last reload.
        var initial: RunningConfiguration
    }

    private let content: Mutex<Content>
    /// Serializes changes, so that none is lost.
    private let changes = AsyncLock()

    init(_ configuration: RunningConfiguration) {
        content = Mutex(Content(current: configuration, initial: configuration))
    }

    var current: RunningConfiguration { content.withLock { $0.current } }

    /// Changes the configuration.
    /// - Parameters:
    ///   - isInitial: True when a reset restores the new configuration.
    ///   - change: Returns the new configuration after the server has taken it over, and a value for the caller. If it throws, nothing
    ///     is changed.
    /// - Returns: The value that `change` returned.
    /// - Throws: The error of `change`.
    func change<R>(
        isInitial: Bool = false, _ change: (RunningConfiguration) async throws -> (RunningConfiguration, R)
    ) async throws -> R {
        await changes.lock()
        defer { changes.unlock() }
        let (new, result) = try await change(current)
        content.withLock { content in
            content.current = new
            if isInitial { content.initial = new }
        }
        return result
    }

    /// The configuration that a reset restores.
    var initial: RunningConfiguration { content.withLock { $0.initial } }
}

extension ServerContext {
    /// Takes over a new configuration while the server runs.
    ///
    /// Changes that testers have made to clients and journeys are gone. Settings that need a restart keep their values.
    /// - Parameter configuration: The configuration.
    /// - Returns: The difference from the present configuration.
    /// - Throws: `StoreError` when the state cannot be written; in that case nothing has changed.
    func reload(_ configuration: ServerConfiguration) async throws -> ConfigurationDifference {
        let difference = try await holder.change(isInitial: true) { before in
            let (new, difference) = before.reloaded(configuration)
            try await store.replace(users: configuration.users, clients: new.clients, trees: new.trees)
            return (new, difference)
        }
        logger.notice("the configuration was reloaded", metadata: ["difference": "\(difference.lines.joined(separator: " | "))"])
        return difference
    }

    /// Restores the clients and journeys of the configuration, after testers have changed them.
    func restoreConfiguration() async throws {
        try await holder.change { before in
            let initial = holder.initial
            if before !== initial { try await store.replace(clients: initial.clients, trees: initial.trees) }
            return (initial, ())
        }
    }
}
