public import SignetJourney

/// This device, as servers are told of it.
public struct FRDevice: Sendable {
    /// What it is known by to servers of this app, the same each time: it depends on the machine and on ``FRAuth/applicationName``.
    public let identifier: String

    /// This device. Nil where the machine has no id of its own (machine-id(5)): a made-up one would be another device each time.
    public static var currentDevice: FRDevice? {
        DeviceProfileCollector.identifier(for: FRAuth.applicationName).map { FRDevice(identifier: $0) }
    }

    /// What the device is, as far as a program without rights can see it.
    public func getProfile() async -> DeviceProfile { profile }

    /// The same with a completion, called once.
    public func getProfile(completion: @escaping @Sendable (DeviceProfile) -> Void) {
        Task { completion(profile) }
    }

    var profile: DeviceProfile { DeviceProfileCollector(identifier: identifier).collect() }
}

extension DeviceProfileCallback {
    /// Enters what ``FRDevice/currentDevice`` says of itself, as far as the server asks for it. Where it is is not known here: an app that
    /// knows adds it to ``FRDevice/getProfile()`` and says ``setProfile(_:)``.
    /// - Returns: what was found out; nil, and nothing is entered, where there is no ``FRDevice/currentDevice``.
    @discardableResult
    public func execute() -> DeviceProfile? {
        guard let profile = FRDevice.currentDevice?.profile else { return nil }
        setProfile(profile)
        return profile
    }
}
