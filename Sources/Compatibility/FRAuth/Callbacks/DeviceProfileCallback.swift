import Foundation
import SignetCore
public import SignetJourney

/// Asks for the device's profile: its metadata and its location.
public class DeviceProfileCallback: HiddenValueCallback, ActionCallback {
    /// True when the server asks for the device's metadata.
    public var metadataRequired = false
    /// True when the server asks for the device's location.
    public var locationRequired = false
    /// The message to show while the app collects the profile.
    public var message = ""
    /// The app's collector for the location, which ``FRDeviceCollector/shared`` has under the name `location`; nil when the server does
    /// not ask for it or the app has none.
    public var locationCollector: (any DeviceCollector)?
    /// The collector for the metadata.
    public var profileCollector = ProfileCollector()
    /// The collector for the whole profile, with the sections that the server asks for.
    public var collector = FRDeviceCollector()

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback has no outputs or no input.
    public required init(json: [String: Any]) throws {
        try super.init(json: json)
        try received.require("output")
        let view = SignetJourney.DeviceProfileCallback(unchecked: received)
        (metadataRequired, locationRequired, message) = (view.wantsMetadata, view.wantsLocation, view.message)
        let added = FRDeviceCollector.shared.collectors
        locationCollector = locationRequired ? added.first { $0.name == "location" } : nil
        if let locationCollector { collector.collectors.append(locationCollector) }
        if metadataRequired { collector.collectors.append(profileCollector) }
    }

    /// Collects the profile with ``collector``, enters it, and calls the completion once with the data.
    public func execute(_ completion: @escaping DeviceCollectorCallback) {
        collector.collect { [self] profile in
            setValue(JSONValue(any: profile).map { JSON.text(of: $0) })
            completion(profile)
        }
    }

    /// Enters a profile, which `DeviceProfileCollector` creates.
    ///
    /// Parts that the server did not ask for are left out. If the app has replaced ``Callback/response`` by something that is not a
    /// callback, nothing is entered, and an error is logged.
    public func setProfile(_ profile: DeviceProfile) {
        do {
            var view = SignetJourney.DeviceProfileCallback(unchecked: try JourneyCallback(untyped: response))
            view.fill(profile)
            setValue(view.callback.value()?.untyped)
        } catch {
            FRLog.e("DeviceProfileCallback.setProfile entered nothing: \(error)")
        }
    }
}
