public import SignetJourney

/// The device that the app runs on, as the app describes it to servers.
public struct FRDevice: Sendable {
    /// The device's identifier for the servers of this app.
    ///
    /// It is stable: it depends on the machine and on ``FRAuth/applicationName``.
    public let identifier: String

    /// The current device.
    ///
    /// Nil when the machine has no machine-id(5), because a generated identifier would differ each time.
    public static var currentDevice: FRDevice? {
        DeviceProfileCollector.identifier(for: FRAuth.applicationName).map { FRDevice(identifier: $0) }
    }

    /// Returns the device's profile, with the data that an unprivileged process can read.
    public func getProfile() async -> DeviceProfile { profile }

    /// Collects the device's profile and calls the completion once.
    public func getProfile(completion: @escaping @Sendable (DeviceProfile) -> Void) {
        Task { completion(profile) }
    }

    var profile: DeviceProfile { DeviceProfileCollector(identifier: identifier).collect() }
}

extension DeviceProfileCallback {
    /// Enters the profile of ``FRDevice/currentDevice``, with the parts that the server asks for.
    ///
    /// It contains no location: an app that knows the location adds it to the profile from ``FRDevice/getProfile()`` and calls
    /// ``setProfile(_:)``.
    /// - Returns: The collected profile; nil, with nothing entered, when ``FRDevice/currentDevice`` is nil.
    @discardableResult
    public func execute() -> DeviceProfile? {
        guard let profile = FRDevice.currentDevice?.profile else { return nil }
        setProfile(profile)
        return profile
    }
}
