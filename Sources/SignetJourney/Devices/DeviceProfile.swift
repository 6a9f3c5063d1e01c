public import SignetCore

/// What a device is and where: the answer to a ``DeviceProfileCallback`` (protocol/journey.md section 2.8).
public struct DeviceProfile: Sendable, Hashable {
    /// What the device is known by, the same each time.
    public var identifier: String
    /// What the device is, in sections: `platform`, `hardware`, `browser`, `network` and so on.
    public var metadata: [String: JSONValue]
    /// Where it is; nil when it is not known, or is not to be told.
    public var location: Location?

    /// A place on earth (WGS 84).
    public struct Location: Sendable, Hashable {
        /// Degrees to the north.
        public var latitude: Double
        /// Degrees to the east.
        public var longitude: Double

        /// A place as given.
        public init(latitude: Double, longitude: Double) {
            self.latitude = latitude
            self.longitude = longitude
        }
    }

    /// A profile as given.
    public init(identifier: String, metadata: [String: JSONValue] = [:], location: Location? = nil) {
        self.identifier = identifier
        self.metadata = metadata
        self.location = location
    }

    /// As it travels, without what was not asked for.
    func json(metadata wantsMetadata: Bool, location wantsLocation: Bool) -> JSONValue {
        var members: [String: JSONValue] = ["identifier": .string(identifier)]
        if wantsMetadata { members["metadata"] = .object(metadata) }
        if wantsLocation, let location {
            members["location"] = .object(["latitude": .number(location.latitude), "longitude": .number(location.longitude)])
        }
        return .object(members)
    }
}
