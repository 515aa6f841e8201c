#include "definition/built_in.h"

#include <stddef.h>
#include <string.h>

typedef struct built_in {
  const char *name, *text;
} built_in_t;

#define STAMPED(type, field) "std_msgs/Header header\n" type " " field "\n"
#define MULTI_ARRAY(type)    "MultiArrayLayout layout\n" type "[] data\n"
#define HEADER               "std_msgs/Header header\n"

static const built_in_t built_ins[] = {
    {"builtin_interfaces/Time", "int32 sec\nuint32 nanosec\n"},
    {"builtin_interfaces/Duration", "int32 sec\nuint32 nanosec\n"},
    {"rosgraph_msgs/Clock", "builtin_interfaces/Time clock\n"},
    {"tf2_msgs/TFMessage", "geometry_msgs/TransformStamped[] transforms\n"},
    {"tf2_msgs/TF2Error", "uint8 error\nstring error_string\n"},
    {"rcl_interfaces/Log", "byte DEBUG=10\nbyte INFO=20\nbyte WARN=30\nbyte ERROR=40\n"
                           "byte FATAL=50\nbuiltin_interfaces/Time stamp\nuint8 level\n"
                           "string name\nstring msg\nstring file\nstring function\nuint32 line\n"},

    {"rcl_interfaces/ParameterEvent",
     "builtin_interfaces/Time stamp\nstring node\nParameter[] new_parameters\n"
     "Parameter[] changed_parameters\nParameter[] deleted_parameters\n"},
    {"rcl_interfaces/Parameter", "string name\nParameterValue value\n"},
    {"rcl_interfaces/ParameterValue",
     "uint8 type\nbool bool_value\nint64 integer_value\nfloat64 double_value\n"
     "string string_value\nbyte[] byte_array_value\nbool[] bool_array_value\n"
     "int64[] integer_array_value\nfloat64[] double_array_value\nstring[] string_array_value\n"},

    {"std_msgs/Header", "builtin_interfaces/Time stamp\nstring frame_id\n"},
    {"std_msgs/Bool", "bool data\n"},
    {"std_msgs/Byte", "byte data\n"},
    {"std_msgs/Char", "char data\n"},
    {"std_msgs/ColorRGBA", "float32 r\nfloat32 g\nfloat32 b\nfloat32 a\n"},
    {"std_msgs/Empty", ""},
    {"std_msgs/Float32", "float32 data\n"},
    {"std_msgs/Float64", "float64 data\n"},
    {"std_msgs/Int8", "int8 data\n"},
    {"std_msgs/Int16", "int16 data\n"},
    {"std_msgs/Int32", "int32 data\n"},
    {"std_msgs/Int64", "int64 data\n"},
    {"std_msgs/String", "string data\n"},
    {"std_msgs/UInt8", "uint8 data\n"},
    {"std_msgs/UInt16", "uint16 data\n"},
    {"std_msgs/UInt32", "uint32 data\n"},
    {"std_msgs/UInt64", "uint64 data\n"},
    {"std_msgs/MultiArrayDimension", "string label\nuint32 size\nuint32 stride\n"},
    {"std_msgs/MultiArrayLayout", "MultiArrayDimension[] dim\nuint32 data_offset\n"},
    {"std_msgs/ByteMultiArray", MULTI_ARRAY("byte")},
    {"std_msgs/Float32MultiArray", MULTI_ARRAY("float32")},
    {"std_msgs/Float64MultiArray", MULTI_ARRAY("float64")},
    {"std_msgs/Int8MultiArray", MULTI_ARRAY("int8")},
    {"std_msgs/Int16MultiArray", MULTI_ARRAY("int16")},
    {"std_msgs/Int32MultiArray", MULTI_ARRAY("int32")},
    {"std_msgs/Int64MultiArray", MULTI_ARRAY("int64")},
    {"std_msgs/UInt8MultiArray", MULTI_ARRAY("uint8")},
    {"std_msgs/UInt16MultiArray", MULTI_ARRAY("uint16")},
    {"std_msgs/UInt32MultiArray", MULTI_ARRAY("uint32")},
    {"std_msgs/UInt64MultiArray", MULTI_ARRAY("uint64")},

    {"geometry_msgs/Accel", "Vector3 linear\nVector3 angular\n"},
    {"geometry_msgs/AccelStamped", STAMPED("Accel", "accel")},
    {"geometry_msgs/AccelWithCovariance", "Accel accel\nfloat64[36] covariance\n"},
    {"geometry_msgs/AccelWithCovarianceStamped", STAMPED("AccelWithCovariance", "accel")},
    {"geometry_msgs/Inertia", "float64 m\ngeometry_msgs/Vector3 com\nfloat64 ixx\nfloat64 ixy\n"
                              "float64 ixz\nfloat64 iyy\nfloat64 iyz\nfloat64 izz\n"},
    {"geometry_msgs/InertiaStamped", STAMPED("Inertia", "inertia")},
    {"geometry_msgs/Point", "float64 x\nfloat64 y\nfloat64 z\n"},
    {"geometry_msgs/Point32", "float32 x\nfloat32 y\nfloat32 z\n"},
    {"geometry_msgs/PointStamped", STAMPED("Point", "point")},
    {"geometry_msgs/Polygon", "Point32[] points\n"},
    {"geometry_msgs/PolygonStamped", STAMPED("Polygon", "polygon")},
    {"geometry_msgs/Pose", "Point position\nQuaternion orientation\n"},
    {"geometry_msgs/Pose2D", "float64 x\nfloat64 y\nfloat64 theta\n"},
    {"geometry_msgs/PoseArray", STAMPED("Pose[]", "poses")},
    {"geometry_msgs/PoseStamped", STAMPED("Pose", "pose")},
    {"geometry_msgs/PoseWithCovariance", "Pose pose\nfloat64[36] covariance\n"},
    {"geometry_msgs/PoseWithCovarianceStamped", STAMPED("PoseWithCovariance", "pose")},
    {"geometry_msgs/Quaternion", "float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1\n"},
    {"geometry_msgs/QuaternionStamped", STAMPED("Quaternion", "quaternion")},
    {"geometry_msgs/Transform", "Vector3 translation\nQuaternion rotation\n"},
    {"geometry_msgs/TransformStamped", HEADER "string child_frame_id\nTransform transform\n"},
    {"geometry_msgs/Twist", "Vector3 linear\nVector3 angular\n"},
    {"geometry_msgs/TwistStamped", STAMPED("Twist", "twist")},
    {"geometry_msgs/TwistWithCovariance", "Twist twist\nfloat64[36] covariance\n"},
    {"geometry_msgs/TwistWithCovarianceStamped", STAMPED("TwistWithCovariance", "twist")},
    {"geometry_msgs/Vector3", "float64 x\nfloat64 y\nfloat64 z\n"},
    {"geometry_msgs/Vector3Stamped", STAMPED("Vector3", "vector")},
    {"geometry_msgs/Wrench", "Vector3 force\nVector3 torque\n"},
    {"geometry_msgs/WrenchStamped", STAMPED("Wrench", "wrench")},

    {"sensor_msgs/CameraInfo",
     HEADER "uint32 height\nuint32 width\nstring distortion_model\nfloat64[] d\nfloat64[9] k\n"
            "float64[9] r\nfloat64[12] p\nuint32 binning_x\nuint32 binning_y\n"
            "RegionOfInterest roi\n"},
    {"sensor_msgs/ChannelFloat32", "string name\nfloat32[] values\n"},
    {"sensor_msgs/CompressedImage", HEADER "string format\nuint8[] data\n"},
    {"sensor_msgs/FluidPressure", HEADER "float64 fluid_pressure\nfloat64 variance\n"},
    {"sensor_msgs/Illuminance", HEADER "float64 illuminance\nfloat64 variance\n"},
    {"sensor_msgs/Image", HEADER "uint32 height\nuint32 width\nstring encoding\n"
                                 "uint8 is_bigendian\nuint32 step\nuint8[] data\n"},
    {"sensor_msgs/Imu",
     HEADER "geometry_msgs/Quaternion orientation\nfloat64[9] orientation_covariance\n"
            "geometry_msgs/Vector3 angular_velocity\nfloat64[9] angular_velocity_covariance\n"
            "geometry_msgs/Vector3 linear_acceleration\n"
            "float64[9] linear_acceleration_covariance\n"},
    {"sensor_msgs/JointState",
     HEADER "string[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n"},
    {"sensor_msgs/Joy", HEADER "float32[] axes\nint32[] buttons\n"},
    {"sensor_msgs/LaserEcho", "float32[] echoes\n"},
    {"sensor_msgs/LaserScan",
     HEADER "float32 angle_min\nfloat32 angle_max\nfloat32 angle_increment\n"
            "float32 time_increment\nfloat32 scan_time\nfloat32 range_min\nfloat32 range_max\n"
            "float32[] ranges\nfloat32[] intensities\n"},
    {"sensor_msgs/MagneticField", HEADER "geometry_msgs/Vector3 magnetic_field\n"
                                         "float64[9] magnetic_field_covariance\n"},
    {"sensor_msgs/MultiDOFJointState",
     HEADER "string[] joint_names\ngeometry_msgs/Transform[] transforms\n"
            "geometry_msgs/Twist[] twist\ngeometry_msgs/Wrench[] wrench\n"},
    {"sensor_msgs/MultiEchoLaserScan",
     HEADER "float32 angle_min\nfloat32 angle_max\nfloat32 angle_increment\n"
            "float32 time_increment\nfloat32 scan_time\nfloat32 range_min\nfloat32 range_max\n"
            "LaserEcho[] ranges\nLaserEcho[] intensities\n"},
    {"sensor_msgs/NavSatFix",
     "uint8 COVARIANCE_TYPE_UNKNOWN=0\nuint8 COVARIANCE_TYPE_APPROXIMATED=1\n"
     "uint8 COVARIANCE_TYPE_DIAGONAL_KNOWN=2\nuint8 COVARIANCE_TYPE_KNOWN=3\n" HEADER
     "NavSatStatus status\nfloat64 latitude\nfloat64 longitude\nfloat64 altitude\n"
     "float64[9] position_covariance\nuint8 position_covariance_type\n"},
    {"sensor_msgs/NavSatStatus",
     "int8 STATUS_NO_FIX=-1\nint8 STATUS_FIX=0\nint8 STATUS_SBAS_FIX=1\n"
     "int8 STATUS_GBAS_FIX=2\nuint16 SERVICE_GPS=1\n"
     "uint16 SERVICE_GLONASS=2\nuint16 SERVICE_COMPASS=4\n"
     "uint16 SERVICE_GALILEO=8\nint8 status\nuint16 service\n"},
    {"sensor_msgs/PointCloud",
     HEADER "geometry_msgs/Point32[] points\nChannelFloat32[] channels\n"},
    {"sensor_msgs/PointCloud2",
     HEADER "uint32 height\nuint32 width\nPointField[] fields\nbool is_bigendian\n"
            "uint32 point_step\nuint32 row_step\nuint8[] data\nbool is_dense\n"},
    {"sensor_msgs/PointField",
     "uint8 INT8=1\nuint8 UINT8=2\nuint8 INT16=3\nuint8 UINT16=4\nuint8 INT32=5\nuint8 UINT32=6\n"
     "uint8 FLOAT32=7\nuint8 FLOAT64=8\nstring name\nuint32 offset\nuint8 datatype\n"
     "uint32 count\n"},
    {"sensor_msgs/Range", "uint8 ULTRASOUND=0\nuint8 INFRARED=1\n" HEADER
                          "uint8 radiation_type\nfloat32 field_of_view\nfloat32 min_range\n"
                          "float32 max_range\nfloat32 range\n"},
    {"sensor_msgs/RegionOfInterest",
     "uint32 x_offset\nuint32 y_offset\nuint32 height\nuint32 width\nbool do_rectify\n"},
    {"sensor_msgs/RelativeHumidity", HEADER "float64 relative_humidity\nfloat64 variance\n"},
    {"sensor_msgs/Temperature", HEADER "float64 temperature\nfloat64 variance\n"},
    {"sensor_msgs/TimeReference", HEADER "builtin_interfaces/Time time_ref\nstring source\n"},

    {"nav_msgs/GridCells", HEADER "float32 cell_width\nfloat32 cell_height\n"
                                  "geometry_msgs/Point[] cells\n"},
    {"nav_msgs/MapMetaData", "builtin_interfaces/Time map_load_time\nfloat32 resolution\n"
                             "uint32 width\nuint32 height\ngeometry_msgs/Pose origin\n"},
    {"nav_msgs/OccupancyGrid", HEADER "MapMetaData info\nint8[] data\n"},
    {"nav_msgs/Odometry", HEADER "string child_frame_id\ngeometry_msgs/PoseWithCovariance pose\n"
                                 "geometry_msgs/TwistWithCovariance twist\n"},
    {"nav_msgs/Path", HEADER "geometry_msgs/PoseStamped[] poses\n"},

    {"diagnostic_msgs/DiagnosticArray", HEADER "DiagnosticStatus[] status\n"},
    {"diagnostic_msgs/DiagnosticStatus",
     "byte OK=0\nbyte WARN=1\nbyte ERROR=2\nbyte STALE=3\nbyte level\nstring name\n"
     "string message\nstring hardware_id\nKeyValue[] values\n"},
    {"diagnostic_msgs/KeyValue", "string key\nstring value\n"},
    {"unique_identifier_msgs/UUID", "uint8[16] uuid\n"},
    {"action_msgs/GoalInfo",
     "unique_identifier_msgs/UUID goal_id\nbuiltin_interfaces/Time stamp\n"},
    {"action_msgs/CancelGoal_Event", "service_msgs/ServiceEventInfo info\n"
                                     "CancelGoal_Request[<=1] request\n"
                                     "CancelGoal_Response[<=1] response\n"},
    {"action_msgs/CancelGoal_Request", "GoalInfo goal_info\n"},
    {"action_msgs/CancelGoal_Response", "int8 return_code\nGoalInfo[] goals_canceling\n"},
    {"service_msgs/ServiceEventInfo", "uint8 event_type\nbuiltin_interfaces/Time stamp\n"
                                      "uint8[16] client_gid\nint64 sequence_number\n"},
    {"action_msgs/GoalStatus", "GoalInfo goal_info\nint8 status\n"},
    {"action_msgs/GoalStatusArray", "GoalStatus[] status_list\n"},
    {"statistics_msgs/MetricsMessage",
     "string measurement_source_name\nstring metrics_source\nstring unit\n"
     "builtin_interfaces/Time window_start\nbuiltin_interfaces/Time window_stop\n"
     "StatisticDataPoint[] statistics\n"},
    {"statistics_msgs/StatisticDataPoint", "uint8 data_type\nfloat64 data\n"},
};

const char *tb__built_in_definition(const char *name)
{
  for (size_t i = 0; i < sizeof built_ins / sizeof *built_ins; i++)
    if (strcmp(built_ins[i].name, name) == 0) return built_ins[i].text;
  return NULL;
}

const char *tb__built_in_name(size_t index)
{
  return index < sizeof built_ins / sizeof *built_ins ? built_ins[index].name : NULL;
}
