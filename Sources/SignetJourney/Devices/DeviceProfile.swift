public import SignetCore

/// The description and location of a device: the answer to a ``DeviceProfileCallback`` (protocol/journey.md section 2.8).
public struct DeviceProfile: Sendable, Hashable {
    /// The ID of the device.
    ///
    /// It must stay the same over time.
    public var identifier: String
    /// The description of the device in sections: `platform`, `hardware`, `browser`, `network` and so on.
    public var metadata: [String: JSONValue]
    /// The location; nil when it is unknown or must not be sent.
    public var location: Location?

    /// A geographic location (WGS 84).
    public struct Location: Sendable, Hashable {
        /// The latitude in degrees north.
        public var latitude: Double
        /// The longitude in degrees east.
        public var longitude: Double

        /// Creates a location.
        public init(latitude: Double, longitude: Double) {
            self.latitude = latitude
            self.longitude = longitude
        }
    }

    /// Creates a device profile.
    public init(identifier: String, metadata: [String: JSONValue] = [:], location: Location? = nil) {
        self.identifier = identifier
        self.metadata = metadata
        self.location = location
    }

    /// Returns the profile in its JSON form, without the parts that the server didn't request.
    func json(metadata wantsMetadata: Bool, location wantsLocation: Bool) -> JSONValue {
        var members: [String: JSONValue] = ["identifier": .string(identifier)]
        if wantsMetadata { members["metadata"] = .object(metadata) }
        if wantsLocation, let location { members["location"] = location.json }
        return .object(members)
    }
}

extension DeviceProfile.Location {
    /// Reads a location from its JSON form.
    ///
    /// Nil unless it has a latitude and a longitude.
    init?(json: JSONValue?) {
        guard let latitude = json?["latitude"]?.double, let longitude = json?["longitude"]?.double else { return nil }
        self.init(latitude: latitude, longitude: longitude)
    }

    /// The location in its JSON form.
    var json: JSONValue { .object(["latitude": .number(latitude), "longitude": .number(longitude)]) }
}
