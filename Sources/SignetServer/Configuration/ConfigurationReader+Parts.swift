import SignetCore
import YAMLText
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
        var journeys = JourneyReader(NodeContext(), realms: [])
        _ = journeys.trees(MarkedValue(content: .mapping([attribute]), position: .start))
        reader.settings[.journey] = journeys.settings
        return reader.settings.merging(PushReader.probe()) { $1 }
    }
}
