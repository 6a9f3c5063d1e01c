import SignetCore
import YAMLText

extension ConfigurationReader {
    /// Reads one client, as the section `clients` has it.
    /// - Parameters:
    ///   - value: The client.
    ///   - configuration: The configuration that the client is added to.
    /// - Returns: The client.
    /// - Throws: ``ConfigurationError`` with all problems.
    static func client(
        _ value: MarkedValue, in configuration: ServerConfiguration
    ) throws(ConfigurationError) -> RegisteredClient {
        var configuration = configuration
        configuration.clients = []
        var reader = ConfigurationReader(configuration, nil)
        reader.realms = Set(configuration.realms.map { RealmPath($0) })
        reader.readClient(value)
        guard reader.problems.isEmpty, let client = reader.configuration.clients.last else {
            throw ConfigurationError(reader.problems)
        }
        return client
    }

    /// Reads one journey, as the section `journeys` has it.
    /// - Parameters:
    ///   - name: The name of the journey.
    ///   - value: The journey.
    ///   - configuration: The configuration that the journey is added to. A journey with the same name is ignored.
    /// - Returns: The journey.
    /// - Throws: ``ConfigurationError`` with all problems.
    static func journey(
        _ name: String, _ value: MarkedValue, in configuration: ServerConfiguration
    ) throws(ConfigurationError) -> JourneyTree {
        let others = configuration.journeys.trees.filter { $0.name != name }
        var reader = JourneyReader(
            configuration.nodeContext, realms: Set(configuration.realms.map { RealmPath($0) }), besides: others)
        let entry = MarkedValue.Entry(key: name, position: value.position, value: value)
        let trees = reader.trees(MarkedValue(content: .mapping([entry]), position: value.position))
        guard reader.problems.isEmpty, let tree = trees.first else { throw ConfigurationError(reader.problems) }
        return tree
    }
}

// MARK: - Attributes

extension ConfigurationReader {
    mutating func readAttributes(_ value: MarkedValue?) -> NodeContext {
        var context = NodeContext()
        guard let value else { return context }
        guard let entries = value.mapping else {
            problems.append(
                ConfigurationProblem(
                    .wrongType, at: value.position, "attributes", "`attributes` must be attributes by name, not \(value.kind)"))
            return context
        }
        for entry in entries {
            var reader = ConfigurationDecoder(entry.value, subject: "attribute `\(entry.key.shortened)`")
            context.attributes[entry.key] = reader.attributeDefinition(entry.key)
            finish(reader, .attribute)
        }
        return context
    }
}

// MARK: - Settings

extension ConfigurationReader {
    /// Returns the settings of each part of a configuration file.
    static func probe() -> [SettingForm.Part: [Setting]] {
        let empty = MarkedValue(content: .mapping([]), position: .start)
        var reader = ConfigurationReader(ServerConfiguration(journeys: Journeys([])), nil)
        reader.isProbing = true
        reader.read(empty, [], { Journeys([]) })
        reader.readEmail(empty)
        reader.readUser(empty)
        reader.readClient(empty)
        let attribute = MarkedValue.Entry(key: "attribute", position: .start, value: empty)
        _ = reader.readAttributes(MarkedValue(content: .mapping([attribute]), position: .start))
        let language = MarkedValue.Entry(key: "en", position: .start, value: empty)
        reader.readLanguages(MarkedValue(content: .mapping([language]), position: .start))
        var journeys = JourneyReader(NodeContext(), realms: [])
        _ = journeys.trees(MarkedValue(content: .mapping([attribute]), position: .start))
        reader.settings[.journey] = journeys.settings
        return reader.settings.merging(PushReader.probe()) { $1 }
    }
}
